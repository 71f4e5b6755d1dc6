//! An adapter for mcp-conform on tower-mcp. It calls every tool of the server once. Sampling is answered by the model
//! in its native dialect: the params of the request go in, the result comes out.

use std::{env, error::Error, sync::Arc, time::Duration};

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tower_mcp::client::{ClientHandler, HttpClientTransport, McpClient, ServerNotification, StdioClientTransport};
use tower_mcp::error::{Error as McpError, JsonRpcError};
use tower_mcp::protocol::{CreateMessageParams, CreateMessageResult};

/// What the run tells the adapter, in MCP_CONFORMANCE_CONTEXT.
#[derive(Clone)]
struct Adapter {
    told: Arc<Value>,
    answering: Arc<Notify>, // a call makes progress, or the model begins to answer
}

fn refuse(code: i32, message: &str) -> JsonRpcError {
    JsonRpcError { code, message: message.to_owned(), data: None }
}

impl Adapter {
    async fn ask(&self, params: CreateMessageParams) -> Result<CreateMessageResult, reqwest::Error> {
        let response = reqwest::Client::new()
            .post(self.told["models"]["native"].as_str().unwrap_or_default())
            .bearer_auth(self.told["key"].as_str().unwrap_or_default())
            .timeout(Duration::from_millis(self.told["timeoutMs"].as_u64().unwrap_or(60_000)))
            .json(&params)
            .send()
            .await?;
        self.answering.notify_waiters();
        response.error_for_status()?.json().await
    }
}

#[async_trait]
impl ClientHandler for Adapter {
    async fn handle_create_message(&self, params: CreateMessageParams) -> Result<CreateMessageResult, JsonRpcError> {
        if self.told["capabilities"].get("sampling").is_none() {
            return Err(JsonRpcError::method_not_found("sampling/createMessage"));
        }
        if self.told["decision"] == "decline" {
            return Err(refuse(-1, "the user declined"));
        }
        let token = self.current_cancellation_token().unwrap_or_default();
        let answer = tokio::select! {
            answer = self.ask(params) => answer,
            _ = token.cancelled() => return Err(refuse(-32603, "cancelled")),
        };
        // The server must not see the provider's message.
        let answer = answer.map_err(|_| refuse(-32603, "the model did not answer"))?;
        if self.told["decision"] == "decline-answer" {
            return Err(refuse(-1, "the user declined the answer"));
        }
        Ok(answer)
    }

    async fn on_notification(&self, notification: ServerNotification) {
        if let ServerNotification::Progress(_) = notification {
            self.answering.notify_waiters();
        }
    }
}

/// The strings of a list in the context; none, if it is missing.
fn names(list: &Value) -> Vec<String> {
    serde_json::from_value(list.clone()).unwrap_or_default()
}

/// Awaits a call, unless the run asks to abandon it. Reports how it ended.
async fn ended<T>(adapter: &Adapter, name: &str, call: impl Future<Output = Result<T, McpError>>) {
    let give_up = names(&adapter.told["giveUp"]).contains(&name.to_owned());
    let mut line = tokio::select! {
        result = call => match result {
            Ok(_) => json!({"outcome": "completed"}),
            Err(McpError::JsonRpc(error)) => {
                json!({"outcome": "failed", "error": {"code": error.code, "message": error.message}})
            }
            Err(error) => json!({"outcome": "failed", "error": {"code": 0, "message": error.to_string()}}),
        },
        // Dropping the call cancels it.
        _ = adapter.answering.notified(), if give_up => json!({"outcome": "gave-up"}),
    };
    line["mcp-conform"] = json!("outcome");
    line["tool"] = json!(name);
    println!("{line}");
}

async fn call_everything(client: &McpClient, adapter: &Adapter) -> Result<(), Box<dyn Error>> {
    match env::var("MCP_CONFORMANCE_PROTOCOL_VERSION").unwrap_or_default().as_str() {
        "2026-07-28" => { client.discover("tower-adapter", "1").await?; }
        _ => { client.initialize("tower-adapter", "1").await?; }
    }
    let mut tools = names(&adapter.told["tools"]);
    if tools.is_empty() {
        tools = client.list_all_tools().await?.into_iter().map(|tool| tool.name).collect();
    }
    for name in tools {
        ended(adapter, &name, client.call_tool(&name, json!({}))).await;
    }
    for name in names(&adapter.told["prompts"]) {
        ended(adapter, &name, client.get_prompt(&name, None)).await;
    }
    for uri in names(&adapter.told["resources"]) {
        ended(adapter, &uri, client.read_resource(&uri)).await;
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let told: Value = serde_json::from_str(&env::var("MCP_CONFORMANCE_CONTEXT")?)?;
    println!("{}", json!({"mcp-conform": "supports", "feature": "decisions"}));
    let adapter = Adapter { told: Arc::new(told), answering: Arc::default() };
    let capabilities = serde_json::from_value(adapter.told["capabilities"].clone()).unwrap_or_default();
    let builder = McpClient::builder().with_capabilities(capabilities).request_progress();
    let server = &adapter.told["server"];
    let client = if let Some(program) = server["command"].as_str() {
        let args = names(&server["args"]);
        let args: Vec<_> = args.iter().map(String::as_str).collect();
        builder.connect(StdioClientTransport::spawn(program, &args).await?, adapter.clone()).await?
    } else {
        let url = env::args().next_back().unwrap_or_default();
        builder.connect(HttpClientTransport::new(url), adapter.clone()).await?
    };
    call_everything(&client, &adapter).await?;
    client.shutdown().await?;
    Ok(())
}
