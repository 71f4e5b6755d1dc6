package host;

import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CreateMessageRequest;
import io.modelcontextprotocol.spec.McpSchema.CreateMessageResult;
import io.modelcontextprotocol.spec.McpSchema.CreateMessageResult.StopReason;
import io.modelcontextprotocol.spec.McpSchema.ImageContent;
import io.modelcontextprotocol.spec.McpSchema.Role;
import io.modelcontextprotocol.spec.McpSchema.SamplingMessage;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.content.Media;
import org.springframework.ai.mcp.annotation.McpSampling;
import org.springframework.ai.openai.OpenAiChatOptions;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.stereotype.Component;
import org.springframework.util.MimeType;

/** A host on Spring AI: its MCP client, whose chat model answers the server's sampling requests. */
@SpringBootApplication
public class Host {
    public static void main(String[] arguments) {
        SpringApplication.run(Host.class, arguments).close();
    }

    @Bean
    CommandLineRunner callEveryTool(List<McpSyncClient> servers) {
        return arguments -> {
            for (var server : servers) {
                for (var tool : server.listTools().tools()) {
                    try {
                        server.callTool(new CallToolRequest(tool.name(), Map.of(), null));
                    } catch (RuntimeException failed) { // the call failed, as some of the cases do
                        System.err.println(tool.name() + ": " + failed);
                    }
                }
            }
        };
    }
}

@Component
class Sampler {
    private final ChatModel model;

    Sampler(ChatModel model) {
        this.model = model;
    }

    @McpSampling(clients = "server")
    public CreateMessageResult sample(CreateMessageRequest request) {
        var messages = new ArrayList<Message>();
        if (request.systemPrompt() != null) {
            messages.add(new SystemMessage(request.systemPrompt()));
        }
        request.messages().forEach(message -> messages.add(converted(message)));
        var options = OpenAiChatOptions.builder().model("gpt-4.1-mini").temperature(request.temperature())
            .maxTokens(request.maxTokens()).stop(request.stopSequences()).build();
        try {
            var answer = model.call(new Prompt(messages, options)).getResult();
            var reason = "LENGTH".equals(answer.getMetadata().getFinishReason()) ? StopReason.MAX_TOKENS : StopReason.END_TURN;
            return CreateMessageResult.builder(Role.ASSISTANT, answer.getOutput().getText(), "gpt-4.1-mini")
                .stopReason(reason).build();
        } catch (RuntimeException failed) { // the server must not get the provider's message
            throw McpError.builder(-32603).message("the model did not answer").build();
        }
    }

    private static Message converted(SamplingMessage message) {
        if (message.content() instanceof TextContent text) {
            return message.role() == Role.USER ? new UserMessage(text.text()) : new AssistantMessage(text.text());
        }
        if (message.content() instanceof ImageContent image) {
            var data = Base64.getDecoder().decode(image.data());
            return UserMessage.builder().text("")
                .media(new Media(MimeType.valueOf(image.mimeType()), new org.springframework.core.io.ByteArrayResource(data)))
                .build();
        }
        throw McpError.builder(-32602).message("this host takes texts and images").build();
    }
}
