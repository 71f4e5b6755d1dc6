// An adapter on the official Kotlin SDK. It calls every tool of the server once, and answers sampling by asking the
// model.
import io.ktor.client.HttpClient
import io.ktor.client.engine.cio.CIO
import io.ktor.client.plugins.sse.SSE
import io.modelcontextprotocol.kotlin.sdk.client.Client
import io.modelcontextprotocol.kotlin.sdk.client.ClientOptions
import io.modelcontextprotocol.kotlin.sdk.client.StdioClientTransport
import io.modelcontextprotocol.kotlin.sdk.client.StreamableHttpClientTransport
import io.modelcontextprotocol.kotlin.sdk.shared.Transport
import io.modelcontextprotocol.kotlin.sdk.types.*
import java.net.URI
import java.net.http.HttpRequest
import java.net.http.HttpResponse.BodyHandlers
import kotlin.system.exitProcess
import kotlinx.coroutines.*
import kotlinx.coroutines.future.await
import kotlinx.io.asSink
import kotlinx.io.asSource
import kotlinx.io.buffered
import kotlinx.serialization.json.*

val told = Json.parseToJsonElement(System.getenv("MCP_CONFORMANCE_CONTEXT")).jsonObject
val decision = told.getValue("decision").jsonPrimitive.content
val web: java.net.http.HttpClient = java.net.http.HttpClient.newHttpClient()

/** Asks the model in its native dialect: the params of the request go in, the result comes out. */
suspend fun ask(params: CreateMessageRequestParams): CreateMessageResult {
    val model = URI(told.getValue("models").jsonObject.getValue("native").jsonPrimitive.content)
    val body = McpJson.encodeToString(CreateMessageRequestParams.serializer(), params)
    val request = HttpRequest.newBuilder(model)
        .header("Content-Type", "application/json")
        .header("Authorization", "Bearer " + told.getValue("key").jsonPrimitive.content)
        .POST(HttpRequest.BodyPublishers.ofString(body))
    try {
        val response = withTimeout(told.getValue("timeoutMs").jsonPrimitive.long) {
            web.sendAsync(request.build(), BodyHandlers.ofString()).await()
        }
        if (response.statusCode() == 200) {
            return McpJson.decodeFromString(CreateMessageResult.serializer(), response.body())
        }
    } catch (e: Exception) { // whatever it is: the server gets no message of the model
        currentCoroutineContext().ensureActive()
    }
    throw McpException(-32603, "the model did not answer")
}

/** Samples as the user decides. */
suspend fun decided(params: CreateMessageRequestParams): CreateMessageResult {
    if (decision == "decline") throw McpException(-1, "the user declined")
    val result = ask(params)
    if (decision == "decline-answer") throw McpException(-1, "the user declined")
    return result
}

fun transport(url: String): Transport {
    val server = told["server"]?.jsonObject
        ?: return StreamableHttpClientTransport(HttpClient(CIO) { install(SSE) }, url)
    val words = listOf(server.getValue("command")) + server.getValue("args").jsonArray
    val process = ProcessBuilder(words.map { it.jsonPrimitive.content })
        .redirectError(ProcessBuilder.Redirect.INHERIT).start()
    return StdioClientTransport(process.inputStream.asSource().buffered(), process.outputStream.asSink().buffered())
}

fun say(vararg members: Pair<String, JsonElement>) = println(JsonObject(mapOf(*members)))

fun main(args: Array<String>): Unit = runBlocking {
    say("mcp-conform" to JsonPrimitive("supports"), "feature" to JsonPrimitive("decisions"))
    val capabilities = McpJson.decodeFromJsonElement(ClientCapabilities.serializer(), told.getValue("capabilities"))
    val client = Client(Implementation("adapter", "1"), ClientOptions(capabilities))
    if (capabilities.sampling != null) {
        client.setRequestHandler<CreateMessageRequest>(Method.Defined.SamplingCreateMessage) { request, _ ->
            decided(request.params)
        }
    }
    client.connect(transport(args.lastOrNull().orEmpty()))
    var page = client.listTools()
    val tools = page.tools.toMutableList()
    while (page.nextCursor != null) {
        page = client.listTools(ListToolsRequest(PaginatedRequestParams(page.nextCursor)))
        tools += page.tools
    }
    for (tool in tools) {
        var outcome = arrayOf<Pair<String, JsonElement>>("outcome" to JsonPrimitive("completed"))
        try {
            client.callTool(tool.name, emptyMap())
        } catch (e: Exception) {
            val error = JsonObject(mapOf("code" to JsonPrimitive(0), "message" to JsonPrimitive("$e")))
            outcome = arrayOf("outcome" to JsonPrimitive("failed"), "error" to error)
        }
        say("mcp-conform" to JsonPrimitive("outcome"), "tool" to JsonPrimitive(tool.name), *outcome)
    }
    client.close()
    exitProcess(0)
}
