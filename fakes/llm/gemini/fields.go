package gemini

import (
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// documented lists the messages of a request and the kinds of their fields, from the API reference of 2026: a message,
// a scalar, "any" for uninspected values, "[]" before a repeated kind, "map:" before the kind of a map's values. The
// API accepts camelCase and snake_case names.
var documented = map[string]map[string]string{
	"request": fields(`
		contents:[]content systemInstruction:content tools:[]tool toolConfig:toolConfig
		safetySettings:[]safetySetting generationConfig:generationConfig cachedContent:string model:string
		labels:struct store:bool serviceTier:enum modelArmorConfig:any
	`),
	"content": fields("role:string parts:[]part"),
	"part": fields(`
		text:string inlineData:blob fileData:fileData functionCall:functionCall
		functionResponse:functionResponse executableCode:any codeExecutionResult:any toolCall:any
		toolResponse:any thought:bool thoughtSignature:bytes videoMetadata:any mediaResolution:any
		partMetadata:struct mediaProcessing:enum audioTranscription:any speechMetadata:any
	`),
	"blob":         fields("mimeType:string data:bytes displayName:string"),
	"fileData":     fields("mimeType:string fileUri:string displayName:string"),
	"functionCall": fields("id:string name:string args:struct partialArgs:any willContinue:bool"),
	"functionResponse": fields("id:string name:string response:struct parts:[]responsePart willContinue:bool " +
		"scheduling:enum"),
	"responsePart": fields("inlineData:blob fileData:fileData mediaProcessing:enum"),
	"tool": fields(`
		functionDeclarations:[]functionDeclaration googleSearch:any googleSearchRetrieval:any codeExecution:any
		urlContext:any computerUse:any fileSearch:any googleMaps:any retrieval:any enterpriseWebSearch:any
		parallelAiSearch:any exaAiSearch:any mcpServers:any
	`),
	"functionDeclaration": fields(`
		name:string description:string behavior:enum parameters:schema parametersJsonSchema:struct
		response:schema responseJsonSchema:any
	`),
	"schema": fields(`
		type:enum format:string title:string description:string nullable:bool enum:[]string items:schema
		properties:map:schema required:[]string propertyOrdering:[]string anyOf:[]schema minItems:integer
		maxItems:integer minLength:integer maxLength:integer minProperties:integer maxProperties:integer
		minimum:number maximum:number pattern:string default:any example:any additionalProperties:any ref:string
		defs:any prefixItems:[]schema
	`),
	"toolConfig": fields("functionCallingConfig:functionCallingConfig retrievalConfig:any " +
		"includeServerSideToolInvocations:bool"),
	"functionCallingConfig": fields("mode:enum allowedFunctionNames:[]string streamFunctionCallArguments:bool"),
	"safetySetting":         fields("category:enum threshold:enum method:enum"),
	"generationConfig": fields(`
		maxOutputTokens:integer temperature:number topP:number topK:number stopSequences:[]string
		candidateCount:integer seed:integer presencePenalty:number frequencyPenalty:number
		responseMimeType:string responseSchema:schema responseJsonSchema:any responseModalities:any
		responseFormat:any responseLogprobs:bool logprobs:integer enableEnhancedCivicAnswers:bool
		speechConfig:any thinkingConfig:any imageConfig:any mediaResolution:enum audioTimestamp:bool
		routingConfig:any modelSelectionConfig:any enableAffectiveDialog:bool translationConfig:any
		audioTranscriptionConfig:any
	`),
}

// fields reads a list of NAME:KIND.
func fields(list string) map[string]string {
	kinds := map[string]string{}
	for field := range strings.FieldsSeq(list) {
		name, kind, _ := strings.Cut(field, ":")
		kinds[name] = kind
	}
	return kinds
}

// vertexOnly are fields that Vertex AI has and the Gemini API has not.
var vertexOnly = dialect.Set("request.labels request.modelArmorConfig " +
	"schema.additionalProperties schema.ref schema.defs schema.prefixItems")

// fieldName returns the camelCase name of a message's field, or "" if unknown.
func fieldName(message, written string) string {
	fields := documented[message]
	if fields[written] != "" {
		return written
	}
	if words := strings.Split(written, "_"); len(words) > 1 && written == strings.ToLower(written) {
		for i, w := range words[1:] {
			if w != "" {
				words[i+1] = strings.ToUpper(w[:1]) + w[1:]
			}
		}
		if name := strings.Join(words, ""); fields[name] != "" {
			return name
		}
	}
	return ""
}
