// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// A client of the OpenTelemetry audit-logging draft, written from the draft alone: fetch,
// JSON, and its own canonical form. node client.mjs URL TOKEN
import assert from 'node:assert/strict'
import { createHash, createHmac, generateKeyPairSync, sign } from 'node:crypto'

const [url, token] = process.argv.slice(2)

// jcs is RFC 8785 for what stands in these records: objects, arrays, texts, and integers.
const jcs = (v) =>
  Array.isArray(v)
    ? `[${v.map(jcs).join(',')}]`
    : v !== null && typeof v === 'object'
      ? `{${Object.keys(v).sort().map((k) => `${JSON.stringify(k)}:${jcs(v[k])}`).join(',')}}`
      : JSON.stringify(v)

const wrap = (v) =>
  typeof v === 'string' ? { stringValue: v } : typeof v === 'boolean' ? { boolValue: v } : { intValue: v }

// payload is the record as its producer signs and hashes it.
const payload = (r) => {
  const attributes = Object.entries(r.attributes).filter(([k]) => !k.startsWith('audit.integrity.'))
  const out = {
    Timestamp: r.timestamp,
    ObservedTimestamp: r.observed,
    EventName: r.event,
    Attributes: Object.fromEntries(attributes.map(([k, v]) => [k, wrap(v)])),
  }
  if (r.body !== undefined) out.Body = wrap(r.body)
  return jcs(out)
}
const hash = (r) => createHash('sha256').update(payload(r)).digest('hex')

const list = (attributes) => Object.entries(attributes).map(([key, v]) => ({ key, value: wrap(v) }))
const request = (records, resource = { 'service.name': 'auth-service', 'service.instance.id': 'auth-1' }) => ({
  resourceLogs: [
    {
      resource: { attributes: list(resource) },
      scopeLogs: [
        {
          logRecords: records.map((r) => ({
            timeUnixNano: r.timestamp,
            observedTimeUnixNano: r.observed,
            eventName: r.event,
            attributes: list(r.attributes),
            ...(r.body === undefined ? {} : { body: wrap(r.body) }),
            ...r.more,
          })),
        },
      ],
    },
  ],
})

const record = (id, attributes = {}, more = {}) => ({
  timestamp: '1714041600000000001',
  observed: '1714041600001000000',
  event: 'user.login.success',
  body: 'CANARY-auditdraft-1',
  attributes: {
    'audit.record.id': id,
    'audit.actor.id': 'u8472',
    'audit.actor.type': 'user',
    'audit.action': 'LOGIN',
    'audit.outcome': 'success',
    'audit.target.id': '/api/auth/session',
    'session.id': 'CANARY-auditdraft-2',
    ...attributes,
  },
  more,
})

const post = async (body, headers = {}) => {
  const answer = await fetch(`${url}/v1/audit`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  assert.notEqual(answer.status, 207, 'there is no partial success')
  const text = await answer.text()
  let json
  try {
    json = JSON.parse(text)
  } catch {
    json = {}
  }
  return { status: answer.status, text, ...{ json }, retryAfter: answer.headers.get('retry-after') }
}

// One record.
const login = record('a1b2c3d4-e5f6-7890-abcd-ef1234567890')
const first = await post(request([login]))
assert.equal(first.status, 200, first.text)
assert.equal(first.json.record_id, login.attributes['audit.record.id'])
assert.equal(first.json.status, 'delivered_all_sinks')
assert.equal(first.json.integrity_hash, hash(login), 'the record is stored as it was sent')
assert.match(first.json.sink_timestamp, /^[0-9]{19}$/)
assert.ok(['passed', 'deferred'].includes(first.json.verify_status))
for (const sink of Object.values(first.json.sink_status_map)) assert.equal(sink.delivery_status, 'success')

// The same again: the same success. Another payload: a conflict that is not retried.
const again = await post(request([login]))
assert.equal(again.status, 200)
assert.deepEqual(
  { ...again.json, receipt: undefined },
  { ...first.json, receipt: undefined },
)
const other = await post(request([record(login.attributes['audit.record.id'], { 'audit.outcome': 'failure' })]))
assert.equal(other.status, 409)
assert.equal(other.retryAfter, null)

// A batch, and a batch with one record that is wrong.
const batch = await post(request([record('b-1'), record('b-2')]))
assert.equal(batch.status, 200, batch.text)
assert.ok(batch.json.batch_id)
assert.equal(batch.json.status, 'delivered_all_sinks')
assert.equal(batch.json.record_status_map['b-2'].integrity_hash, hash(record('b-2')))
assert.ok(batch.json.sink_status_aggregate)
const refused = await post(request([record('b-3'), record('b-4', { 'audit.outcome': 'maybe' })]))
assert.equal(refused.status, 400)
assert.equal(refused.json.record_status_map['b-4'].status, 'rejected_schema_invalid')
const alone = await post(request([record('b-3')]))
assert.equal(alone.json.receipt.repeat, undefined, 'nothing of the refused batch was kept')

// The rules of the data model.
for (const name of ['audit.record.id', 'audit.actor.id', 'audit.actor.type', 'audit.action', 'audit.outcome']) {
  const r = record('m-1')
  delete r.attributes[name]
  const answer = await post(request([r]))
  assert.equal(answer.status, 400, name)
  assert.equal(answer.json.status, 'rejected_schema_invalid')
  assert.ok(answer.json.reason.includes(name), answer.text)
}
for (const more of [
  { eventName: '' },
  { timeUnixNano: '0' },
  { observedTimeUnixNano: '1714041600000000000' },
  { observedTimeUnixNano: `${BigInt(Date.now() + 3_600_000) * 1_000_000n}` },
  { severityNumber: 9 },
])
  assert.equal((await post(request([record('m-2', {}, more)]))).status, 400, JSON.stringify(more))
assert.equal((await post(request([record('m-3')], {}))).status, 400, 'a resource is required')
const scoped = request([record('m-4')])
scoped.resourceLogs[0].scopeLogs[0].scope = { name: 'library' }
assert.equal((await post(scoped)).status, 400)
assert.equal((await post('{')).status, 400)

// Signatures: nobody told this collector the key, so that nothing is verified, and it says so.
const { privateKey } = generateKeyPairSync('ed25519')
const signed = record('s-1')
signed.attributes['audit.integrity.value'] = sign(null, Buffer.from(payload(signed)), privateKey).toString('base64')
signed.attributes['audit.integrity.signer'] = 'producer'
const pending = await post(request([signed], { 'service.name': 's', 'audit.integrity.algorithm': 'EdDSA' }))
assert.equal(pending.status, 202, pending.text)
assert.equal(pending.json.status, 'accepted_pending_verify')
assert.equal(pending.json.verify_status, 'deferred')
// The secret of this one is configured.
const secret = 'a secret of thirty-two bytes....'
const mac = record('s-2')
mac.attributes['audit.integrity.value'] = createHmac('sha256', secret).update(payload(mac)).digest('base64')
const verified = await post(request([mac], { 'service.name': 's', 'audit.integrity.algorithm': 'HMAC-SHA256' }))
assert.equal(verified.status, 200, verified.text)
assert.equal(verified.json.verify_status, 'passed')
assert.equal(verified.json.attributes['audit.integrity.signer'], 'collector')
assert.equal(verified.json.attributes['audit.integrity.value.0'], mac.attributes['audit.integrity.value'])
mac.attributes['audit.record.id'] = 's-3'
const forged = await post(request([mac], { 'service.name': 's', 'audit.integrity.algorithm': 'HMAC-SHA256' }))
assert.equal(forged.status, 400)
assert.equal(forged.json.status, 'rejected_verify_failed')
assert.equal(forged.json.verify_status, 'failed')

// A stream, and a record that breaks it: taken, and said.
const one = record('c-1', { 'audit.sequence.stream_id': 'stream', 'audit.sequence.number': 1 })
const two = record('c-2', {
  'audit.sequence.stream_id': 'stream', 'audit.sequence.number': 2,
  'audit.sequence.previous_hash': hash(one), 'audit.sequence.previous_record_id': 'c-1',
})
const four = record('c-4', { 'audit.sequence.stream_id': 'stream', 'audit.sequence.number': 4, 'audit.sequence.previous_hash': hash(two) })
assert.equal((await post(request([one]))).json.chain_status, 'genesis')
assert.equal((await post(request([two]))).json.chain_status, 'continues')
const gap = await post(request([four]))
assert.equal(gap.status, 200)
assert.equal(gap.json.chain_status, 'broken')

// Who does not authenticate.
const stranger = await post(request([record('x')]), { authorization: 'Bearer wrong' })
assert.equal(stranger.status, 401)

// Too large.
assert.equal((await post(JSON.stringify({ resourceLogs: 'x'.repeat(5 << 20) }))).status, 413)
console.log('ok')
