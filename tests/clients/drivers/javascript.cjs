// Lets the AWS SDK for JavaScript do what each line of input says.
// The endpoint and the region come from the environment, as the SDK itself reads them.
"use strict";
const path = require("node:path");
const readline = require("node:readline");
const { createRequire } = require("node:module");

// The SDK is installed where this runs, not where this file lies.
const turk = createRequire(path.join(process.cwd(), "here.js"))("@aws-sdk/client-mturk");
const clients = new Map();

function clientOf(accessKeyId) {
  if (!clients.has(accessKeyId)) {
    const secretAccessKey = process.env.AWS_SECRET_ACCESS_KEY ?? "unused";
    const credentials = { accessKeyId, secretAccessKey };
    clients.set(accessKeyId, new turk.MTurkClient({ credentials, maxAttempts: 1 }));
  }
  return clients.get(accessKeyId);
}

async function answer({ call, arguments: given }) {
  const client = clientOf(given.as);
  if (given.pageSize) {
    const pages = [];
    const settings = { client, pageSize: given.pageSize };
    for await (const page of turk[`paginate${call}`](settings, given.input)) pages.push(page);
    return { pages };
  }
  return { result: await client.send(new turk[`${call}Command`](given.input)) };
}

function asError(fault) {
  return {
    error: {
      name: fault.name,
      message: fault.message,
      TurkErrorCode: fault.TurkErrorCode,
      isRequestError: fault instanceof turk.RequestError,
      isServiceException: fault instanceof turk.MTurkServiceException,
      status: fault.$metadata?.httpStatusCode,
    },
  };
}

// JSON has no moments: {"$date": ...} stands for one.
const reviveDate = (_key, value) => (value && value.$date ? new Date(value.$date) : value);

(async () => {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const reply = await answer(JSON.parse(line, reviveDate)).catch(asError);
    console.log(`=> ${JSON.stringify(reply)}`);
  }
})();
