# A host on AutoGen: an agent with an MCP workbench, whose model also answers the servers' sampling requests.
# python host.py URL 'What to do'
import asyncio
import sys

from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient
from autogen_ext.tools.mcp import McpWorkbench, StreamableHttpServerParams


async def main(url, prompt):
    model = OpenAIChatCompletionClient(model="gpt-4.1-mini", max_retries=0)
    server = StreamableHttpServerParams(url=url, timeout=60, sse_read_timeout=120)
    async with McpWorkbench(server, model_client=model) as workbench:
        agent = AssistantAgent("host", model_client=model, workbench=workbench, max_tool_iterations=100)
        done = await agent.run(task=prompt)
        print(done.messages[-1].to_text())


asyncio.run(main(*sys.argv[1:]))
