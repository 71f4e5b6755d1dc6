//! An adapter for mcp-conform on the official Rust SDK, rmcp 3. It calls every tool of the server once. create_message
//! answers sampling by asking the model, in its native dialect: the params of the request go in, the result comes out.
#![allow(deprecated)] // sampling, since 2.0.0

use std::{env, error::Error, sync::Arc, time::Duration};

use rmcp::model::*;
use rmcp::service::{NotificationContext, RequestContext, RunningService, ServiceError};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient};
use serde_json::{Value, json};
use tokio::sync::Notify;

/// What the run tells the adapter, in MCP_CONFORMANCE_CONTEXT.
struct Adapter {
    told: Value,
    answering: Arc<Notify>, // a call makes progress, or the model begins to answer
}

fn refuse(code: i32, message: &'static str) -> ErrorData {
    ErrorData::new(ErrorCode(code), message, None)
}

impl Adapter {
    async fn ask(&self, params: CreateMessageRequestParams) -> Result<CreateMessageResult, reqwest::Error> {
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

impl ClientHandler for Adapter {
    fn get_info(&self) -> ClientConfig {
        let capabilities = serde_json::from_value(self.told["capabilities"].clone()).unwrap_or_default();
        ClientConfig::new(capabilities, Implementation::new("rust-adapter", "1"))
            .with_protocol_version(revision().unwrap_or(ProtocolVersion::LATEST_WITH_INITIALIZE))
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        if self.told["capabilities"].get("sampling").is_none() {
            return Err(ErrorData::method_not_found::<CreateMessageRequestMethod>());
        }
        if self.told["decision"] == "decline" {
            return Err(refuse(-1, "the user declined"));
        }
        let answer = tokio::select! {
            answer = self.ask(params) => answer,
            _ = context.ct.cancelled() => return Err(refuse(-32603, "cancelled")),
        };
        // The server must not see the provider's message.
        let answer = answer.map_err(|_| refuse(-32603, "the model did not answer"))?;
        if self.told["decision"] == "decline-answer" {
            return Err(refuse(-1, "the user declined the answer"));
        }
        Ok(answer)
    }

    async fn on_progress(&self, _: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.answering.notify_waiters();
    }
}

/// The revision that the run names, or None: the client must find out.
fn revision() -> Option<ProtocolVersion> {
    let name = env::var("MCP_CONFORMANCE_PROTOCOL_VERSION").ok().filter(|name| !name.is_empty())?;
    serde_json::from_value(Value::String(name)).ok()
}

/// The strings of a list in the context; none, if it is missing.
fn names(list: &Value) -> Vec<String> {
    serde_json::from_value(list.clone()).unwrap_or_default()
}

fn lifecycle() -> ClientLifecycleMode {
    match revision() {
        Some(revision) if revision.has_initialize() => ClientLifecycleMode::Initialize,
        Some(revision) => ClientLifecycleMode::Discover { preferred_versions: vec![revision] },
        None => ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::LATEST],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        },
    }
}

/// Awaits a call, unless the run asks to abandon it. Reports how it ended.
async fn ended<T>(adapter: &Adapter, name: &str, call: impl Future<Output = Result<T, ServiceError>>) {
    let give_up = names(&adapter.told["giveUp"]).contains(&name.to_owned());
    let mut line = tokio::select! {
        result = call => match result {
            Ok(_) => json!({"outcome": "completed"}),
            Err(ServiceError::McpError(error)) => {
                json!({"outcome": "failed", "error": {"code": error.code.0, "message": error.message}})
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

async fn call_everything(client: &RunningService<RoleClient, Adapter>) -> Result<(), ServiceError> {
    let adapter = client.service();
    let mut tools = names(&adapter.told["tools"]);
    if tools.is_empty() {
        tools = client.list_all_tools().await?.into_iter().map(|tool| tool.name.into_owned()).collect();
    }
    for name in tools {
        let params = CallToolRequestParams::new(name.clone()).with_arguments(JsonObject::new());
        ended(adapter, &name, client.call_tool(params)).await;
    }
    for name in names(&adapter.told["prompts"]) {
        ended(adapter, &name, client.get_prompt(GetPromptRequestParams::new(&name))).await;
    }
    for uri in names(&adapter.told["resources"]) {
        ended(adapter, &uri, client.read_resource(ReadResourceRequestParams::new(&uri))).await;
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let told: Value = serde_json::from_str(&env::var("MCP_CONFORMANCE_CONTEXT")?)?;
    println!("{}", json!({"mcp-conform": "supports", "feature": "decisions"}));
    let adapter = Adapter { told, answering: Arc::default() };
    let server = &adapter.told["server"];
    let mut client = if let Some(program) = server["command"].as_str() {
        let mut command = tokio::process::Command::new(program);
        command.args(names(&server["args"]));
        adapter.serve_with_lifecycle(TokioChildProcess::new(command)?, lifecycle()).await?
    } else {
        let url = env::args().next_back().unwrap_or_default();
        adapter.serve_with_lifecycle(StreamableHttpClientTransport::from_uri(url), lifecycle()).await?
    };
    call_everything(&client).await?;
    client.close().await?;
    Ok(())
}
