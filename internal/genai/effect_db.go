// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/telemetry"
	"github.com/readtrail/readtrail/record"
)

// databaseEffect describes what a client did in a database, by the names of
// the conventions since 1.30 and by those before.
func databaseEffect(l *lifting) *record.Effect {
	it := l.item
	if it.kind == ptrace.SpanKindServer {
		return nil
	}
	e := &record.Effect{
		System:    textOf(it, name, "db.system.name", "db.system"),
		Operation: textOf(it, name, "db.operation.name", "db.operation", "db.cosmosdb.operation_type"),
		// SQL Server and Oracle write several parts with bars between them.
		Namespace: textOf(it, nameOrIdentifier, "db.namespace", "db.name", "db.redis.database_index"),
		Collection: textOf(it, name, "db.collection.name", "db.sql.table", "db.mongodb.collection", "db.cassandra.table",
			"db.cosmosdb.container"),
		Target: host(it),
		Status: effectStatus(it, "db.response.status_code", "db.cosmosdb.status_code", "http.response.status_code", "http.status_code"),
		Rows:   rowCount(it, "db.response.returned_rows", "db.cosmosdb.item_count", "aws.dynamodb.count"),
	}
	if e.Collection == "" {
		e.Collection = onlyOne(it, "aws.dynamodb.table_names")
	}
	query := l.queryEffect(e, "db.query.text", "db.statement")
	summarize(e, inClear("db.query.summary", it.text("db.query.summary")))
	if e.Operation == "" {
		e.Operation = keyword(query)
	}
	return e
}

// queryEffect digests the first of the attributes that has a value, and returns
// its text. Nothing is kept of it: a rule is about what a tool read. A query that
// holds a credential has no digest.
func (l *lifting) queryEffect(e *record.Effect, keys ...string) string {
	for _, key := range keys {
		v := l.value(key)
		if !v.ok {
			continue
		}
		if telemetry.QueryHoldsCredential(v.data) {
			e.QueryCapture = record.CapturedPlaceholder
			return v.text()
		}
		d := l.digestAlone(v)
		e.QueryDigest, e.QueryCanonicalization, e.QuerySize = d.Value, form(d), d.Size
		if d.State == record.CapturedPlaceholder || d.State == record.CapturedTruncated {
			e.QueryCapture = d.State
		}
		return v.text()
	}
	return ""
}

// summarize takes from a summary of the query (db.query.summary) what no other
// attribute says: libraries that give one leave the others out, since a query
// can hold several operations. The first word is the operation. What follows is
// a collection for sure only if it is one word behind an operation on one.
func summarize(e *record.Effect, summary string) {
	operation, what, _ := strings.Cut(summary, " ")
	if e.Operation == "" {
		e.Operation = operation
	}
	switch operation {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE":
		if e.Collection == "" && what != "" && !strings.Contains(what, " ") {
			e.Collection = name(what)
		}
	}
}

// keywords are what a query in SQL begins with, or a command of Redis.
var keywords = strings.Fields(`SELECT INSERT UPDATE DELETE MERGE UPSERT REPLACE TRUNCATE CREATE ALTER DROP GRANT REVOKE CALL EXEC EXECUTE COPY
	BEGIN COMMIT ROLLBACK
	GET MGET SET SETEX MSET DEL EXISTS EXPIRE INCR HGET HMGET HGETALL HSET HDEL LPUSH RPUSH LPOP RPOP LRANGE SADD SMEMBERS ZADD ZRANGE SCAN KEYS`)

// keyword returns the operation of a query whose library does not name it: the
// first word, if it is one that begins queries. A text with several statements
// may do anything.
func keyword(query string) string {
	const longest = 16
	if strings.Contains(strings.TrimRight(query, "; \t\r\n"), ";") {
		return ""
	}
	query = strings.TrimLeft(query, " \t\r\n")
	word := query[:min(len(query), longest)]
	if end := strings.IndexAny(word, "; \t\r\n"); end >= 0 {
		word = word[:end]
	}
	word = strings.ToUpper(word)
	if !slices.Contains(keywords, word) {
		return ""
	}
	return word
}

// nameOrIdentifier takes names, which may have several words, and ids.
func nameOrIdentifier(s string) string {
	if n := name(s); n != "" {
		return n
	}
	return identifier(s)
}

// onlyOne returns the name in a list of one.
func onlyOne(it *item, key string) string {
	v, ok := it.get(key)
	if !ok || v.Type() != pcommon.ValueTypeSlice || v.Slice().Len() != 1 {
		return ""
	}
	return name(scalar(v.Slice().At(0)))
}

// rowCount returns the first of the attributes that is a number of rows.
func rowCount(it *item, keys ...string) *int64 {
	for _, key := range keys {
		n, err := strconv.ParseInt(it.text(key), 10, 64)
		if err == nil && 0 <= n && n <= record.MaxInteger {
			return &n
		}
	}
	return nil
}
