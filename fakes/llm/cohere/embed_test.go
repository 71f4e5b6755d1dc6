package cohere

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

func TestEmbeddings(t *testing.T) {
	embed := Chat.(dialect.SideRequests)
	require.Equal(t, []string{"POST /v2/embed"}, embed.SideRequestPatterns())
	a := embed.AnswerSideRequest(nil, []byte(`{"model":"embed-v4.0","input_type":"search_query","texts":["a b","b a"],
		"embedding_types":["float"],"output_dimension":8}`))
	require.Equal(t, http.StatusOK, a.Status)
	var answer struct {
		Embeddings   struct{ Float [][]float32 }
		ResponseType string `json:"response_type"`
		Texts        []string
	}
	require.NoError(t, json.Unmarshal(a.Chunks[0], &answer))
	require.Equal(t, "embeddings_by_type", answer.ResponseType)
	require.Len(t, answer.Embeddings.Float, 2)
	require.Len(t, answer.Embeddings.Float[0], 8)
	require.Equal(t, []string{"a b", "b a"}, answer.Texts)
	for want, body := range map[string]string{
		"the documented form": `[`, "model is required": `{}`, "texts is required": `{"model":"m"}`,
		"input_type is required":           `{"model":"m","texts":["a"]}`,
		"embedding_types must be float":    `{"model":"m","texts":["a"],"input_type":"x","embedding_types":["int8"]}`,
		"output_dimension must be at most": `{"model":"m","texts":["a"],"input_type":"x","output_dimension":9999}`,
	} {
		refused := embed.AnswerSideRequest(nil, []byte(body))
		require.Equal(t, http.StatusBadRequest, refused.Status)
		require.Contains(t, string(refused.Chunks[0]), want)
	}
}
