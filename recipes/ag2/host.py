# A host on AG2: an agent with the tools of an MCP server, which may use the agent's model.
# python host.py URL 'What to do'
import asyncio
import sys

from ag2 import Agent
from ag2.config import OpenAIConfig
from ag2.tools.toolkits.mcp_server import MCPAnswerPolicy, MCPServerConfig, MCPToolkit


async def main(url, prompt):
    server = MCPServerConfig(server_url=url, protocol_mode="auto", connection_timeout=60)
    toolkit = MCPToolkit(server, answering=MCPAnswerPolicy(sampling=True))
    agent = Agent("host", config=OpenAIConfig(model="gpt-4.1-mini"), tools=[toolkit])
    print((await agent.ask(prompt)).content)


asyncio.run(main(*sys.argv[1:]))
