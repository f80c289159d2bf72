// The page of a run that goes on: the server draws it, this script puts it in place. Without a WebSocket it asks again.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const page = document.querySelector("[data-mcp-live]");
  if (!page) return;
  const AGAIN_MS = 2000;
  const lines = [];
  let drawing = false;
  let wanted = false;
  let timer = 0;

  function appendLine(entry) {
    const list = page.querySelector("#mcp-console");
    if (!list) return;
    const item = document.createElement("li");
    const level = document.createElement("span");
    const text = document.createElement("pre");
    item.className = "mcp-level-" + entry.level.replace(/\W/g, "");
    level.className = "mcp-level";
    level.textContent = entry.level;
    text.textContent = entry.text;
    item.append(level, text);
    list.append(item);
  }

  async function draw() {
    if (drawing) {
      wanted = true;
      return;
    }
    drawing = true;
    do {
      wanted = false;
      try {
        const response = await fetch(location.pathname + "?_fragment=1", {credentials: "same-origin"});
        if (response.ok) {
          page.innerHTML = await response.text();
          if (isRunning()) lines.forEach(appendLine);
        }
      } catch {
        // The server is away: the next time may do.
      }
    } while (wanted);
    drawing = false;
    if (!isRunning()) clearInterval(timer);
  }

  function isRunning() {
    return Boolean(page.querySelector("[data-mcp-running]"));
  }

  function askAgain() {
    if (!timer && isRunning()) timer = setInterval(draw, AGAIN_MS);
  }

  const scheme = location.protocol === "https:" ? "wss://" : "ws://";
  const socket = new WebSocket(scheme + location.host + page.dataset.mcpLive);
  socket.addEventListener("message", (event) => {
    const message = JSON.parse(event.data);
    for (const entry of message.console || []) {
      lines.push(entry);
      appendLine(entry);
    }
    if (message.changed) draw();
  });
  socket.addEventListener("close", (event) => {
    if (event.code !== 1000) askAgain();
    else draw();
  });
});
