// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// One HTTP request of an agent, recorded before it is sent and after: planned, sent, the
// request, its outcome. Plain fetch, no packages. docs/boundary.md says what each step is for.
//
//   READTRAIL_API=http://localhost:4319 TARGET=https://deploy.internal.example \
//   CREDENTIAL_FILE=/run/secrets/ops-deploy node act.mjs
//
// READTRAIL_TOKEN is the executor's own token for the journal, if it wants one.

import { createHash, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";

const api = process.env.READTRAIL_API;
const hex = (bytes) => randomBytes(bytes).toString("hex");
const sha256 = (text) => createHash("sha256").update(text).digest("hex");

/** An error whose message holds codes only. */
class NotSent extends Error {}

// append makes records durable and returns their receipts. What the journal refuses is
// never sent again; 429 and 503 are, a few times: a repeat of what it has is no second entry.
async function append(...bodies) {
  const batch = bodies.map((body) => ({ schema_version: "1.0.0", action_record: body }));
  const headers = { "content-type": "application/json" };
  if (process.env.READTRAIL_TOKEN) headers.authorization = `Bearer ${process.env.READTRAIL_TOKEN}`;
  for (let tries = 1; ; tries++) {
    let response;
    try {
      response = await fetch(`${api}/v1/records`, {
        method: "POST", headers, body: JSON.stringify(batch), redirect: "error", signal: AbortSignal.timeout(10_000),
      });
    } catch {
      if (tries === 5) throw new NotSent("record_unavailable");
    }
    if (response?.status === 200) {
      const { receipts } = await response.json();
      const fits = receipts?.length === batch.length && receipts.every((r, i) => r.event_id === bodies[i].event_id && /^sha256:[0-9a-f]{64}$/.test(r.record_hash));
      if (!fits) throw new NotSent("no_receipt");
      return receipts;
    }
    if (response && response.status !== 429 && response.status !== 503) {
      const problem = await response.json().catch(() => ({}));
      throw new NotSent(/^[a-z0-9_]{1,64}$/.test(problem.code) ? problem.code : `status_${response.status}`);
    }
    if (tries === 5) throw new NotSent("record_unavailable");
    const wait = Number(response?.headers.get("retry-after") ?? 0) * 1000;
    await new Promise((done) => setTimeout(done, Math.min(wait || 50 * 2 ** tries, 5_000)));
  }
}

// now is the time as entries spell it: UTC with nine fractional digits.
const now = () => new Date().toISOString().replace("Z", "000000Z");

/** Sends one request and returns its response. call says for whom: executionId, traceId, parentSpanId, actionId, toolId, argumentsDigest. */
async function act(call, { method, url, pathTemplate, body, credentialRef, timeoutMs = 30_000 }) {
  const target = new URL(url);
  const protocol = target.protocol.slice(0, -1);
  const actionSpan = hex(8);
  const token = `idem_${sha256(`readtrail/idempotency/v1\n${call.actionId}`).slice(0, 32)}`;
  const base = (state, correlation) => ({
    event_id: `${call.actionId}.${correlation.attempt ?? 0}.${state}`,
    event_type: `action.${state}`, occurred_at: now(),
    correlation: { execution_id: call.executionId, trace_id: call.traceId, span_id: correlation.span, parent_span_id: correlation.parent },
    action_id: call.actionId, edge_type: "external_action", state,
    actor: { kind: "agent_process", identity: "node-example", started_at: startedAt },
    requested: { tool_id: call.toolId, arguments_digest: call.argumentsDigest },
    action: {
      channel: "http", host: target.hostname, port: Number(target.port || (protocol === "https" ? 443 : 80)), protocol, method,
      path_template: pathTemplate, credential_ref: credentialRef, header_names: ["Authorization", "Idempotency-Key", "Traceparent"],
      body_digest: `sha256:${sha256(body)}`, redaction: "values_left_out",
    },
    idempotency_token: token,
  });

  await append(base("planned", { span: actionSpan, parent: call.parentSpanId }));
  const attempt = { attempt_id: `att_${hex(16)}`, attempt: 1 };
  const span = { span: hex(8), parent: actionSpan, attempt: 1 };
  const of = (state, outcome) => ({ ...base(state, span), ...attempt, ...(outcome && { outcome, attempt_ids: [attempt.attempt_id] }) });
  await append(of("sent")); // the permission: what throws here was not sent

  let credential;
  try {
    credential = (await readFile(process.env.CREDENTIAL_FILE, "utf8")).trim();
  } catch {
    await append(of("failed_before_send", { error: "credential_unavailable", bytes_sent: 0, remote_effect: "none" }));
    throw new NotSent("credential_unavailable");
  }
  let response;
  try {
    response = await fetch(target, {
      method, body, redirect: "manual", signal: AbortSignal.timeout(timeoutMs),
      headers: { authorization: `Bearer ${credential}`, "idempotency-key": token, traceparent: `00-${call.traceId}-${span.span}-01` },
    });
  } catch (error) {
    // fetch does not say whether bytes left, unless nobody listened at all.
    const refused = ["ECONNREFUSED", "ENOTFOUND"].includes(error.cause?.code);
    if (refused) await append(of("failed_before_send", { error: "connection_failed", bytes_sent: 0, remote_effect: "none" }));
    else if (error.name === "TimeoutError") await append(of("timeout", { error: "timeout", remote_effect: "unknown" }));
    else await append(of("unknown", { error: "connection_lost", remote_effect: "unknown" }));
    throw error;
  }
  await append(of("completed", { http_status: response.status, remote_effect: response.ok && response.status !== 202 ? "confirmed" : "unknown" }));
  return response;
}

const startedAt = now();
const release = JSON.stringify({ release: "2025.03.08-rc2" });
try {
  const response = await act(
    {
      executionId: process.env.EXECUTION_ID ?? `run_${hex(4)}`, traceId: hex(16), parentSpanId: hex(8), actionId: process.env.ACTION_ID ?? `act_${hex(13)}`,
      toolId: "publish_release", argumentsDigest: `sha256:${sha256(release)}`,
    },
    { method: "POST", url: `${process.env.TARGET}/v1/releases/customer-api`, pathTemplate: "/v1/releases/{name}", body: release, credentialRef: "ops-deploy", timeoutMs: Number(process.env.TIMEOUT_MS ?? 30_000) },
  );
  console.log(`completed: ${response.status}`);
} catch (error) {
  console.error(error instanceof NotSent ? `not sent: ${error.message}` : `no answer: ${error.name}`);
  process.exitCode = 1;
}
