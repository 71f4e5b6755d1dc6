import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.client.transport.ServerParameters;
import io.modelcontextprotocol.client.transport.StdioClientTransport;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.json.McpJsonMapper;
import io.modelcontextprotocol.spec.McpClientTransport;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpSchema.CreateMessageRequest;
import io.modelcontextprotocol.spec.McpSchema.CreateMessageResult;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * An adapter for mcp-conform on the official Java SDK, io.modelcontextprotocol.sdk:mcp 1 or 2. It calls every tool of the
 * server once. sample answers sampling by asking the model, in its native dialect: the params of the request go in, the result
 * comes out.
 */
@SuppressWarnings("unchecked")
final class Adapter {
    private final McpJsonMapper json = McpJsonDefaults.getMapper();
    private final HttpClient http = HttpClient.newHttpClient();
    private final Map<String, Object> told; // what the run tells the adapter

    private Adapter() throws IOException {
        told = json.readValue(System.getenv("MCP_CONFORMANCE_CONTEXT"), Map.class);
    }

    public static void main(String[] arguments) throws IOException {
        new Adapter().run(arguments);
        System.exit(0); // the SDK may leave threads
    }

    private void run(String[] arguments) throws IOException {
        report(Map.of("mcp-conform", "supports", "feature", "decisions"));
        var declared = (Map<String, Object>) told.get("capabilities");
        var client = McpClient.sync(transport(arguments))
            .clientInfo(json.convertValue(Map.of("name", "java-adapter", "version", "1"), McpSchema.Implementation.class))
            .capabilities(json.convertValue(declared, McpSchema.ClientCapabilities.class))
            .requestTimeout(Duration.ofMinutes(5));
        if (declared.containsKey("sampling")) {
            client.sampling(this::sample);
        }
        try (var connected = client.build()) {
            connected.initialize();
            callEverything(connected);
            connected.closeGracefully();
        }
    }

    private McpClientTransport transport(String[] arguments) {
        if (told.get("server") instanceof Map<?, ?> server) {
            var command = ServerParameters.builder((String) server.get("command")).args((List<String>) server.get("args"));
            return new StdioClientTransport(command.build(), json);
        }
        var url = URI.create(arguments[arguments.length - 1]);
        var transport = HttpClientStreamableHttpTransport.builder(url.resolve("/").toString())
            .endpoint(url.getRawPath());
        var revision = System.getenv("MCP_CONFORMANCE_PROTOCOL_VERSION");
        if (revision != null && !revision.isEmpty()) {
            transport.supportedProtocolVersions(List.of(revision));
        }
        return transport.build();
    }

    /** The SDK's sampling handler: the user decides, and the model is asked. */
    private CreateMessageResult sample(CreateMessageRequest request) {
        if ("decline".equals(told.get("decision"))) {
            throw refusal(-1, "the user declined");
        }
        CreateMessageResult result;
        try {
            result = ask(request);
        } catch (Exception e) { // whatever it is: the server gets no message of the model
            throw refusal(-32603, "the model did not answer");
        }
        if ("decline-answer".equals(told.get("decision"))) {
            throw refusal(-1, "the user declined the answer");
        }
        return result;
    }

    private CreateMessageResult ask(CreateMessageRequest request) throws Exception {
        var models = (Map<String, String>) told.get("models");
        var post = HttpRequest.newBuilder(URI.create(models.get("native")))
            .header("Content-Type", "application/json")
            .header("Authorization", "Bearer " + told.get("key"))
            .POST(HttpRequest.BodyPublishers.ofByteArray(json.writeValueAsBytes(request)))
            .build();
        var limit = Duration.ofMillis(((Number) told.get("timeoutMs")).longValue());
        // The limit of a request ends with the header of the response. This one includes the body.
        var answer = http.sendAsync(post, HttpResponse.BodyHandlers.ofString()).get(limit.toMillis(),
            java.util.concurrent.TimeUnit.MILLISECONDS);
        if (answer.statusCode() != 200) {
            throw new IOException("the model answered with the status " + answer.statusCode());
        }
        return json.readValue(answer.body(), CreateMessageResult.class);
    }

    private static McpError refusal(int code, String message) {
        return McpError.builder(code).message(message).build();
    }

    private void callEverything(McpSyncClient client) throws IOException {
        var tools = (List<String>) told.get("tools");
        if (tools == null) {
            tools = client.listTools().tools().stream().map(McpSchema.Tool::name).toList();
        }
        for (var name : tools) {
            ended(name, () -> client.callTool(new McpSchema.CallToolRequest(name, Map.of(), null)));
        }
        for (var name : (List<String>) told.getOrDefault("prompts", List.of())) {
            ended(name, () -> client.getPrompt(new McpSchema.GetPromptRequest(name, Map.of(), null)));
        }
        for (var uri : (List<String>) told.getOrDefault("resources", List.of())) {
            ended(uri, () -> client.readResource(new McpSchema.ReadResourceRequest(uri, null)));
        }
    }

    private void ended(String name, Runnable call) throws IOException {
        var line = new LinkedHashMap<String, Object>(Map.of("mcp-conform", "outcome", "tool", name));
        try {
            call.run();
            line.put("outcome", "completed");
        } catch (RuntimeException e) {
            var code = e instanceof McpError error && error.getJsonRpcError() != null ? error.getJsonRpcError().code() : 0;
            line.put("outcome", "failed");
            line.put("error", Map.of("code", code, "message", String.valueOf(e.getMessage())));
        }
        report(line);
    }

    private void report(Map<String, Object> line) throws IOException {
        System.out.println(json.writeValueAsString(line));
    }
}
