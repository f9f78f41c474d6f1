// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// One HTTP request of an agent, recorded before it is sent and after: planned, sent, the
// request, its outcome. Plain fetch, no packages. docs/boundary.md says what each step is for.
//
//   READTRAIL_API=http://localhost:4319 TARGET=https://deploy.internal.example \
//   CREDENTIAL_FILE=/run/secrets/ops-deploy STATE_DIR=/var/lib/deployer node act.mjs
//
// READTRAIL_TOKEN is the executor's own token for the journal, if it wants one. STATE_DIR is
// a directory of this executor's own, one process at a time: it keeps a note of each attempt
// until its outcome is in the journal, and the next run writes what the last one could not.
// Without it such an attempt reads "may have gone out" for good.
//
// What it leaves out, and the Go package does: approvals, another attempt of the same action,
// following redirects, counting bytes.

import { createHash, randomBytes } from "node:crypto";
import { open, readFile, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

const api = process.env.READTRAIL_API;
const stateDir = process.env.STATE_DIR;
const hex = (bytes) => randomBytes(bytes).toString("hex");
const sha256 = (text) => createHash("sha256").update(text).digest("hex");

/** The journal said no, or nothing. The message is a code. */
class JournalError extends Error {}

/** An action that did not end well. The message is a code; sent says whether anything left, or may have. */
class Failed extends Error {
  constructor(code, sent) {
    super(code);
    this.sent = sent;
  }
}

// append makes records durable and returns their receipts. What the journal refuses is
// not asked again; 429, 503 and silence are, a few times: a repeat of what it has is no second entry.
async function append(...bodies) {
  const batch = bodies.map((body) => ({ schema_version: "1.0.0", action_record: body }));
  const headers = { "content-type": "application/json" };
  if (process.env.READTRAIL_TOKEN) headers.authorization = `Bearer ${process.env.READTRAIL_TOKEN}`;
  for (let tries = 1; ; tries++) {
    let response, answer;
    try {
      response = await fetch(`${api}/v1/records`, {
        method: "POST", headers, body: JSON.stringify(batch), redirect: "error", signal: AbortSignal.timeout(10_000),
      });
      answer = await response.json();
    } catch {
      answer = {}; // silence, or a problem that somebody else has
      if (response?.ok) response = undefined;
    }
    if (response?.status === 200) {
      const receipts = answer.receipts;
      const fits = receipts?.length === batch.length && receipts.every((r, i) => r.event_id === bodies[i].event_id && /^sha256:[0-9a-f]{64}$/.test(r.record_hash));
      if (!fits) throw new JournalError("no_receipt");
      return receipts;
    }
    if (response && response.status !== 429 && response.status !== 503) {
      throw new JournalError(/^[a-z0-9_]{1,64}$/.test(answer.code) ? answer.code : `status_${response.status}`);
    }
    if (tries === 5) throw new JournalError("record_unavailable");
    const wait = Number(response?.headers.get("retry-after") ?? 0) * 1000;
    await new Promise((done) => setTimeout(done, Math.min(wait || 50 * 2 ** tries, 5_000)));
  }
}

const noteOf = (record) => join(stateDir, `${record.attempt_id}.json`);

// note keeps the outcome of an attempt that is to be written, durably.
async function note(record) {
  if (!stateDir) return;
  const draft = `${noteOf(record)}.new`;
  const file = await open(draft, "w", 0o600);
  await file.writeFile(JSON.stringify(record));
  await file.sync();
  await file.close();
  await rename(draft, noteOf(record));
  const directory = await open(stateDir, "r");
  await directory.sync();
  await directory.close();
}

// settle writes an outcome and drops its note. What it cannot write stays noted.
async function settle(record) {
  await note(record);
  try {
    await append(record);
  } catch (error) {
    // The journal has an outcome of the attempt, or never let it go.
    if (!["attempt_over", "conflict", "attempt_taken", "attempt_open"].includes(error.message)) throw error;
  }
  if (stateDir) await rm(noteOf(record), { force: true });
}

const withOutcome = (record, state, outcome) => ({
  ...record, state, event_type: `action.${state}`, event_id: `${record.action_id}.${record.attempt}.${state}`, occurred_at: now(), attempt_ids: [record.attempt_id], outcome,
});
const notSent = (record, error) => withOutcome(record, "failed_before_send", { error, bytes_sent: 0, remote_effect: "none" });
const lost = (record) => withOutcome(record, "unknown", { error: "executor_lost", remote_effect: "unknown" });

// recover writes what an earlier run left without an outcome: what it knew, or that nobody knows.
async function recover() {
  if (!stateDir) return;
  for (const name of (await readdir(stateDir)).filter((name) => name.endsWith(".json"))) {
    const record = JSON.parse(await readFile(join(stateDir, name), "utf8"));
    try {
      await settle(record);
    } catch (error) {
      if (error.message !== "attempt_not_sent") throw error;
      await settle(notSent(record, "executor_lost")); // it never had its permission
    }
  }
}

// now is the time as entries spell it: UTC with nine fractional digits.
const now = () => new Date().toISOString().replace("Z", "000000Z");

/** Sends one request and returns its response, or throws Failed. call says for whom: executionId, traceId, parentSpanId, actionId, toolId, argumentsDigest. */
async function act(call, { method, url, pathTemplate, body, credentialRef, timeoutMs = 30_000 }) {
  const target = new URL(url);
  const protocol = target.protocol.slice(0, -1);
  const actionSpan = hex(8);
  const attemptSpan = hex(8);
  const token = `idem_${sha256(`readtrail/idempotency/v1\n${call.actionId}`).slice(0, 32)}`;
  const correlation = { execution_id: call.executionId, trace_id: call.traceId };
  const planned = {
    event_id: `${call.actionId}.0.planned`, event_type: "action.planned", occurred_at: now(),
    correlation: { ...correlation, span_id: actionSpan, parent_span_id: call.parentSpanId },
    action_id: call.actionId, edge_type: "external_action", state: "planned",
    actor: { kind: "agent_process", identity: "node-example", started_at: startedAt },
    requested: { tool_id: call.toolId, arguments_digest: call.argumentsDigest },
    action: {
      channel: "http", host: target.hostname, port: Number(target.port || (protocol === "https" ? 443 : 80)), protocol, method,
      path_template: pathTemplate, credential_ref: credentialRef, header_names: ["Authorization", "Idempotency-Key", "Traceparent"],
      body_digest: `sha256:${sha256(body)}`, redaction: "values_left_out",
    },
    idempotency_token: token,
  };
  await append(planned).catch((error) => { throw new Failed(error.message, false); });

  const sent = {
    ...planned, event_id: `${call.actionId}.1.sent`, event_type: "action.sent", occurred_at: now(), state: "sent", attempt_id: `att_${hex(16)}`, attempt: 1,
    correlation: { ...correlation, span_id: attemptSpan, parent_span_id: actionSpan },
  };
  // Whether this can be written changes nothing: nothing left, and the note stays.
  const giveUp = async (code) => {
    await settle(notSent(sent, code)).catch(() => {});
    throw new Failed(code, false);
  };
  let credential;
  try {
    await note(lost(sent)); // before sent, so that no crash leaves an attempt that nobody knows of
  } catch {
    await giveUp("attempt_unkept");
  }
  try {
    await append(sent); // the permission
  } catch (error) {
    await giveUp(error.message);
  }
  try {
    credential = (await readFile(process.env.CREDENTIAL_FILE, "utf8")).trim();
  } catch {
    await giveUp("credential_unavailable");
  }

  // From here on bytes may have left: whatever fails now is never called not sent, but for a
  // connection that did not come about.
  let response, state, outcome;
  try {
    response = await fetch(target, {
      method, body, redirect: "manual", signal: AbortSignal.timeout(timeoutMs),
      headers: { authorization: `Bearer ${credential}`, "idempotency-key": token, traceparent: `00-${call.traceId}-${attemptSpan}-01` },
    });
    state = "completed";
    outcome = { http_status: response.status, remote_effect: response.ok && response.status !== 202 ? "confirmed" : "unknown" };
  } catch (error) {
    // fetch does not say whether bytes left, unless nobody listened at all.
    if (["ECONNREFUSED", "ENOTFOUND"].includes(error.cause?.code)) await giveUp("connection_failed");
    [state, outcome] = error.name === "TimeoutError" ? ["timeout", { error: "timeout", remote_effect: "unknown" }] : ["unknown", { error: "connection_lost", remote_effect: "unknown" }];
  }
  await settle(withOutcome(sent, state, outcome)).catch(() => { throw new Failed("outcome_unrecorded", true); });
  if (state !== "completed") throw new Failed(outcome.error, true);
  return response;
}

const startedAt = now();
const release = JSON.stringify({ release: "2025.03.08-rc2" });
try {
  const missing = ["READTRAIL_API", "TARGET", "CREDENTIAL_FILE"].find((name) => !process.env[name]);
  if (missing) throw new Failed(`${missing} is not set`, false);
  await recover().catch((error) => { throw new Failed(error instanceof JournalError ? error.message : "STATE_DIR cannot be used", false); });
  const response = await act(
    {
      executionId: process.env.EXECUTION_ID ?? `run_${hex(4)}`, traceId: hex(16), parentSpanId: hex(8), actionId: process.env.ACTION_ID ?? `act_${hex(13)}`,
      toolId: "publish_release", argumentsDigest: `sha256:${sha256(release)}`,
    },
    { method: "POST", url: `${process.env.TARGET}/v1/releases/customer-api`, pathTemplate: "/v1/releases/{name}", body: release, credentialRef: "ops-deploy", timeoutMs: Number(process.env.TIMEOUT_MS ?? 30_000) },
  );
  console.log(`completed: ${response.status}`);
} catch (error) {
  if (!(error instanceof Failed)) console.error(`whether anything was sent is not known: ${error.name}`);
  else console.error(error.sent ? `may have had an effect: ${error.message}` : `not sent: ${error.message}`);
  process.exitCode = 1;
}
