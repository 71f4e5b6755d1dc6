// A host on mcp-use: MCPAgent with a LangChain model. The same model answers the servers' sampling requests.
// node agent.mjs mcp.json openai|anthropic 'What to do'
import { readFileSync } from 'node:fs'
import { initChatModel } from 'langchain'
import { MCPAgent, MCPClient } from 'mcp-use'

const [configFile, modelProvider, prompt] = process.argv.slice(2)
const model = { openai: 'gpt-4.1-mini', anthropic: 'claude-sonnet-4-5' }[modelProvider]
const newModel = (options) => initChatModel(model, { modelProvider, maxRetries: 1, ...options })
const stopReasons = { stop: 'endTurn', end_turn: 'endTurn', length: 'maxTokens', max_tokens: 'maxTokens',
  stop_sequence: 'stopSequence', tool_calls: 'toolUse', tool_use: 'toolUse' }

// mcp-use declares sampling without tools if there is an onSampling.
async function onSampling({ systemPrompt, messages, maxTokens, temperature, stopSequences, tools, toolChoice }) {
  if (tools || toolChoice) throw new Error('sampling: this client declares no sampling.tools')
  const chat = messages.map(({ role, content }) => ({ role, content: [content].flat().map(toLangChain) }))
  if (systemPrompt) chat.unshift({ role: 'system', content: systemPrompt })
  const llm = await newModel({ maxTokens, temperature })
  const answer = await llm.invoke(chat, { stop: stopSequences }).catch((err) => {
    console.error(err) // the error may quote the key, so the server must not receive it
    throw new Error('sampling: the model failed')
  })
  const why = answer.response_metadata.finish_reason ?? answer.response_metadata.stop_reason
  return {
    role: 'assistant',
    content: { type: 'text', text: answer.text },
    model: answer.response_metadata.model_name ?? answer.response_metadata.model ?? model,
    stopReason: stopReasons[why] ?? why,
  }
}

function toLangChain({ type, text, mimeType, data }) {
  if (type === 'text') return { type, text }
  if (type === 'image') return { type: 'image_url', image_url: { url: `data:${mimeType};base64,${data}` } }
  throw new Error(`sampling: cannot send ${type} to the model`)
}

const client = new MCPClient(JSON.parse(readFileSync(configFile, 'utf8')), { onSampling })
const agent = new MCPAgent({ llm: await newModel(), client, maxSteps: 100 })
try {
  console.log(await agent.run({ prompt }))
} catch (err) { // such as the agent's limit of steps
  console.error(`mcp-use: ${err.message}`)
  process.exitCode = 1
} finally {
  await client.closeAllSessions()
}
