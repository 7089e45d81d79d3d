// Lets generation 2 of the AWS SDK for JavaScript do what each line of input says.
// It reads no endpoint from the environment, so the program passes it.
"use strict";
const path = require("node:path");
const readline = require("node:readline");
const { createRequire } = require("node:module");

const { MTurk } = createRequire(path.join(process.cwd(), "here.js"))("aws-sdk");
const endpoint = process.env.AWS_ENDPOINT_URL_MTURK;
const client = new MTurk({ endpoint, region: "us-east-1", maxRetries: 0 });

async function answer({ call, arguments: members }) {
  const operation = call[0].toLowerCase() + call.slice(1);
  return { result: await client[operation](members.input).promise() };
}

const asError = (fault) => ({ error: { name: fault.code, message: fault.message } });

(async () => {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    console.log(`=> ${JSON.stringify(await answer(JSON.parse(line)).catch(asError))}`);
  }
})();
