// One of the TypeScript clients lists and calls on both endpoints: takes its name, and the servers and a program as JSON;
// prints what it saw as JSON. The working directory holds the packages.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(process.cwd() + "/here.js");
const { servers, program } = JSON.parse(readFileSync(0, "utf8"));
const CLIENT = { name: "clients-gate", version: "1" };

const KINDS = {
  "sdk": () => {
    const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
    const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
    return [new Client(CLIENT), StreamableHTTPClientTransport, (client, transport) => transport.protocolVersion];
  },
  "client": () => second({}),
  "client-auto": () => second({ versionNegotiation: { mode: "auto" } }),
};

function second(options) {
  const { Client, StreamableHTTPClientTransport } = require("@modelcontextprotocol/client");
  return [new Client(CLIENT, options), StreamableHTTPClientTransport, (client) => client.getNegotiatedProtocolVersion()];
}

async function look(server, name, args) {
  const [client, Transport, versionOf] = KINDS[process.argv[2]]();
  const transport = new Transport(new URL(server.url), { requestInit: { headers: server.headers } });
  await client.connect(transport);
  // Listing first lets the client hold the result to the output schema.
  const { tools } = await client.listTools();
  const result = await client.callTool({ name, arguments: args });
  const seen = { version: versionOf(client, transport), tools: tools.map((tool) => tool.name), result };
  await client.close();
  return seen;
}

console.log(JSON.stringify({
  plain: await look(servers["demo"], "get-user", { id: "123" }),
  code: await look(servers["demo-code"], "code", { code: program }),
}));
