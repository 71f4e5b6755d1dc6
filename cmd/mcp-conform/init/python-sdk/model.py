"""Asks a model with its provider's package. params is a sampling request as JSON; so is what comes back."""

import json

import httpx2

blocks = lambda content: content if isinstance(content, list) else [content]
text_of = lambda content: "\n".join(block["text"] for block in content if block["type"] == "text")


async def native(params, told, answers):
    headers = {"Authorization": "Bearer " + told["key"]}
    async with httpx2.AsyncClient(timeout=None) as client:
        async with client.stream("POST", told["models"]["native"], json=params, headers=headers) as response:
            answers()
            response.raise_for_status()
            return json.loads(await response.aread())


async def openai(params, told, answers):
    from openai import AsyncOpenAI
    messages = [{"role": "system", "content": params["systemPrompt"]}] if params.get("systemPrompt") else []
    for message in params["messages"]:
        content, parts = blocks(message["content"]), []
        calls = [{"id": b["id"], "type": "function", "function": {"name": b["name"], "arguments": json.dumps(b["input"])}}
                 for b in content if b["type"] == "tool_use"]
        for b in content:
            if b["type"] == "tool_result":
                messages.append({"role": "tool", "tool_call_id": b["toolUseId"], "content": text_of(b["content"])
                                 or json.dumps(b.get("structuredContent", {}))})
            elif b["type"] == "text":
                parts.append({"type": "text", "text": b["text"]})
            elif b["type"] == "image":
                url = f"data:{b['mimeType']};base64,{b['data']}"
                parts.append({"type": "image_url", "image_url": {"url": url}})
            elif b["type"] == "audio":
                kind = "mp3" if b["mimeType"] in ("audio/mpeg", "audio/mp3") else "wav"
                parts.append({"type": "input_audio", "input_audio": {"data": b["data"], "format": kind}})
        if calls or parts:
            messages.append({"role": message["role"], "content": parts or None} | ({"tool_calls": calls} if calls else {}))
    request = {"model": "gpt-4.1", "messages": messages, "max_completion_tokens": params["maxTokens"]}
    request |= {theirs: params[ours] for ours, theirs in {"temperature": "temperature", "stopSequences": "stop"}.items()
                if params.get(ours) is not None}
    if params.get("tools"):
        request["tools"] = [{"type": "function", "function": {
            "name": t["name"], "description": t.get("description", ""), "parameters": t["inputSchema"]}}
            for t in params["tools"]]
        request["tool_choice"] = (params.get("toolChoice") or {}).get("mode", "auto")
    async with AsyncOpenAI(base_url=told["models"]["openai-chat"], api_key=told["key"]) as client:
        answer = await client.chat.completions.create(**request)
    answers()
    choice = answer.choices[0]
    text = choice.message.content or choice.message.refusal
    content = [{"type": "text", "text": text}] if text else []
    content += [{"type": "tool_use", "id": c.id, "name": c.function.name, "input": json.loads(c.function.arguments)}
                for c in choice.message.tool_calls or []]
    stop = "toolUse" if choice.message.tool_calls else {"stop": "endTurn", "length": "maxTokens"}.get(
        choice.finish_reason, choice.finish_reason)
    return {"role": "assistant", "model": answer.model, "content": content, "stopReason": stop}


async def anthropic(params, told, answers):
    from anthropic import AsyncAnthropic

    def block(b):
        if b["type"] == "tool_result":
            inner = [block(c) for c in b["content"]] or json.dumps(b.get("structuredContent", {}))
            return {"type": "tool_result", "tool_use_id": b["toolUseId"], "content": inner,
                    "is_error": b.get("isError", False)}
        if b["type"] == "image":
            return {"type": "image", "source": {"type": "base64", "media_type": b["mimeType"], "data": b["data"]}}
        if b["type"] not in ("text", "tool_use"):
            raise ValueError("this model cannot take " + b["type"])
        return {name: b[name] for name in ("type", "text", "id", "name", "input") if name in b}

    request = {"model": "claude-sonnet-4-5", "max_tokens": params["maxTokens"], "messages": [
        {"role": m["role"], "content": [block(b) for b in blocks(m["content"])]} for m in params["messages"]]}
    request |= {theirs: params[ours] for ours, theirs in {
        "systemPrompt": "system", "stopSequences": "stop_sequences"}.items() if params.get(ours)}
    if params.get("temperature") is not None:  # the package has no such parameter any more, but older models take it
        request["extra_body"] = {"temperature": params["temperature"]}
    if params.get("tools"):
        request["tools"] = [{"name": t["name"], "description": t.get("description", ""), "input_schema": t["inputSchema"]}
                            for t in params["tools"]]
        mode = (params.get("toolChoice") or {}).get("mode", "auto")
        request["tool_choice"] = {"type": {"required": "any"}.get(mode, mode)}
    async with AsyncAnthropic(base_url=told["models"]["anthropic"], api_key=told["key"]) as client:
        answer = await client.messages.create(**request)
    answers()
    content = [{"type": "text", "text": b.text} if b.type == "text" else
               {"type": "tool_use", "id": b.id, "name": b.name, "input": b.input}
               for b in answer.content if b.type in ("text", "tool_use")]  # a server gets no thoughts
    stop = {"end_turn": "endTurn", "max_tokens": "maxTokens", "stop_sequence": "stopSequence", "tool_use": "toolUse"}
    return {"role": "assistant", "model": answer.model, "content": content,
            "stopReason": stop.get(answer.stop_reason, answer.stop_reason)}
