// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
)

const (
	client   = ptrace.SpanKindClient
	internal = ptrace.SpanKindInternal
	server   = ptrace.SpanKindServer
	producer = ptrace.SpanKindProducer
	consumer = ptrace.SpanKindConsumer
)

func rows64(n int64) *int64 { return &n }

// queried returns an effect with the digest of its query.
func queried(e record.Effect, query string) *record.Effect {
	d := content.Plain.OfString(query)
	e.QueryDigest, e.QueryCanonicalization, e.QuerySize = d.Value, string(d.Form), d.Size
	return &e
}

type effectCase struct {
	what   string
	class  Class
	kind   ptrace.SpanKind
	attrs  map[string]any
	effect *record.Effect
	edge   record.EdgeType
}

func checkEffects(t *testing.T, cases []effectCase) {
	for _, c := range cases {
		t.Run(c.what, func(t *testing.T) {
			o := newTestLifter(t).Span(testSpan{kind: c.kind, attrs: c.attrs}.input(t))
			assert.Equal(t, c.class, o.Class)
			assert.Equal(t, c.effect, o.Skeleton.Effect)
			assert.Equal(t, c.edge, o.Skeleton.EdgeType)
			assert.Nil(t, o.Read)
			assert.NotContains(t, marshalled(t, o), "CANARY")
			lineage(t, o) // fits its schema
		})
	}
}

func TestADatabaseSpanNamesWhatWasDoneWhereAndHowMuchCame(t *testing.T) {
	const query = "select * from customers where id = $1 and note = 'CANARY'"
	checkEffects(t, []effectCase{
		{
			"JS pg, new names", ClassDB, client,
			map[string]any{
				"db.system.name": "postgresql", "db.namespace": "bank", "server.address": "127.0.0.1", "server.port": 5544, "db.query.text": query,
				"db.postgresql.values": []any{"CANARY"}, "db.response.returned_rows": 3,
			},
			queried(record.Effect{System: "postgresql", Operation: "SELECT", Namespace: "bank", Target: "127.0.0.1", Rows: rows64(3)}, query), record.EdgeExternalAction,
		},
		{
			"Java JDBC, old names", ClassDB, client,
			map[string]any{
				"db.system": "mysql", "db.name": "bank", "db.operation": "SELECT", "db.sql.table": "accounts", "server.address": "db1", "db.statement": query,
				"db.user": "CANARY", "db.connection_string": "mysql://CANARY", "db.response.status_code": "42P01",
			},
			queried(record.Effect{System: "mysql", Operation: "SELECT", Namespace: "bank", Collection: "accounts", Target: "db1", Status: "42P01"}, query), record.EdgeExternalAction,
		},
		{
			".NET SqlClient, with a summary in place of the parts", ClassDB, client,
			map[string]any{
				"db.system.name": "microsoft.sql_server", "db.namespace": "sql01|bank", "db.query.summary": "SELECT customers", "server.address": "sql01",
				"error.type": "Microsoft.Data.SqlClient.SqlException",
			},
			&record.Effect{
				System: "microsoft.sql_server", Operation: "SELECT", Namespace: "sql01|bank", Collection: "customers", Target: "sql01",
				Status: "Microsoft.Data.SqlClient.SqlException",
			}, record.EdgeExternalAction,
		},
		{
			"a summary of a join names no one collection", ClassDB, client,
			map[string]any{"db.system.name": "postgresql", "db.query.summary": "SELECT customers accounts"},
			&record.Effect{System: "postgresql", Operation: "SELECT"}, record.EdgeExternalAction,
		},
		{
			"Python psycopg2, old names", ClassDB, client,
			map[string]any{"db.system": "postgresql", "db.name": "bank", "net.peer.name": "db.example", "net.peer.port": 5432, "db.statement": "INSERT INTO t VALUES (%s)"},
			queried(record.Effect{System: "postgresql", Operation: "INSERT", Namespace: "bank", Target: "db.example"}, "INSERT INTO t VALUES (%s)"), record.EdgeExternalAction,
		},
		{
			"several statements do not say what was done", ClassDB, client,
			map[string]any{"db.system": "mysql", "db.statement": "SELECT 1; DELETE FROM t;"},
			queried(record.Effect{System: "mysql"}, "SELECT 1; DELETE FROM t;"), record.EdgeExternalAction,
		},
		{
			"JS mongodb", ClassDB, client,
			map[string]any{
				"db.system": "mongodb", "db.name": "bank", "db.mongodb.collection": "customers", "db.operation": "find",
				"db.statement": ` {"note": "?", "limit": 1.0}`, "net.peer.name": "mongo",
			},
			queried(record.Effect{System: "mongodb", Operation: "find", Namespace: "bank", Collection: "customers", Target: "mongo"}, `{"limit":1,"note":"?"}`), record.EdgeExternalAction,
		},
		{
			"redis", ClassDB, client,
			map[string]any{"db.system.name": "redis", "db.namespace": 0, "db.operation.name": "HGET", "db.query.text": "HGET CANARY f", "net.peer.name": "cache.example"},
			queried(record.Effect{System: "redis", Operation: "HGET", Namespace: "0", Target: "cache.example"}, "HGET CANARY f"), record.EdgeExternalAction,
		},
		{
			"redis, old names", ClassDB, client,
			map[string]any{"db.system": "redis", "db.redis.database_index": 2, "db.statement": "get CANARY"},
			queried(record.Effect{System: "redis", Operation: "GET", Namespace: "2"}, "get CANARY"), record.EdgeExternalAction,
		},
		{
			"elasticsearch", ClassDB, client,
			map[string]any{
				"db.system.name": "elasticsearch", "db.operation.name": "search", "db.collection.name": "customers", "http.request.method": "POST",
				"db.elasticsearch.path_parts.doc_id": "CANARY", "url.full": "https://es/customers/_search?q=CANARY", "http.response.status_code": 404,
			},
			&record.Effect{System: "elasticsearch", Operation: "search", Collection: "customers", Target: "es", Status: "404"}, record.EdgeExternalAction,
		},
		{
			"cassandra", ClassDB, client,
			map[string]any{"db.system": "cassandra", "db.name": "ks", "db.cassandra.table": "customers", "db.operation": "SELECT"},
			&record.Effect{System: "cassandra", Operation: "SELECT", Namespace: "ks", Collection: "customers"}, record.EdgeExternalAction,
		},
		{
			"cosmosdb, new names", ClassDB, client,
			map[string]any{
				"db.system.name": "azure.cosmosdb", "db.operation.name": "query_items", "db.namespace": "bank", "db.collection.name": "customers",
				"db.response.status_code": "200", "db.response.returned_rows": "0",
			},
			&record.Effect{System: "azure.cosmosdb", Operation: "query_items", Namespace: "bank", Collection: "customers", Status: "200", Rows: rows64(0)}, record.EdgeExternalAction,
		},
		{
			"cosmosdb, old names", ClassDB, client,
			map[string]any{
				"db.system": "cosmosdb", "db.name": "bank", "db.cosmosdb.container": "customers", "db.cosmosdb.operation_type": "Query", "db.cosmosdb.status_code": 200,
				"db.cosmosdb.item_count": "12",
			},
			&record.Effect{System: "cosmosdb", Operation: "Query", Namespace: "bank", Collection: "customers", Status: "200", Rows: rows64(12)}, record.EdgeExternalAction,
		},
		{
			"dynamodb", ClassDB, client,
			map[string]any{
				"db.system": "dynamodb", "db.operation": "Query", "aws.dynamodb.table_names": []any{"customers"}, "aws.dynamodb.count": 4, "rpc.system": "aws-api",
			},
			&record.Effect{System: "dynamodb", Operation: "Query", Collection: "customers", Rows: rows64(4)}, record.EdgeExternalAction,
		},
		{
			"a database in the process is no action outside", ClassDB, internal,
			map[string]any{"db.system.name": "sqlite", "db.operation.name": "SELECT"},
			&record.Effect{System: "sqlite", Operation: "SELECT"}, "",
		},
		{
			"a database is not touched by itself", ClassDB, server,
			map[string]any{"db.system.name": "postgresql", "db.operation.name": "SELECT"},
			nil, "",
		},
		{
			"rows that are no number are not known", ClassDB, client,
			map[string]any{"db.system.name": "postgresql", "db.response.returned_rows": "many"},
			&record.Effect{System: "postgresql"}, record.EdgeExternalAction,
		},
		{
			"a query with a credential has no digest", ClassDB, client,
			map[string]any{"db.system.name": "postgresql", "db.query.text": "CREATE USER x PASSWORD 'CANARY'"},
			&record.Effect{System: "postgresql", Operation: "CREATE", QueryCapture: record.CapturedPlaceholder}, record.EdgeExternalAction,
		},
		{
			"nor has a placeholder", ClassDB, client,
			map[string]any{"db.system.name": "postgresql", "db.query.text": "[REDACTED]"},
			&record.Effect{System: "postgresql", QueryCapture: record.CapturedPlaceholder}, record.EdgeExternalAction,
		},
		{
			"free text is no name", ClassDB, client,
			map[string]any{"db.system.name": "postgresql", "db.collection.name": "CANARY's table, really", "db.operation.name": "look for CANARY (all of them)"},
			&record.Effect{System: "postgresql"}, record.EdgeExternalAction,
		},
	})
}

func TestARequestToAnotherSystemNamesTheSystemAndTheAnswer(t *testing.T) {
	checkEffects(t, []effectCase{
		{
			"JS undici", ClassHTTP, client,
			map[string]any{
				"http.request.method": "GET", "url.full": "https://u:CANARY@api.example:8443/a?q=CANARY", "url.path": "/CANARY", "http.response.status_code": 503,
				"http.request.resend_count": 1,
			},
			&record.Effect{System: "http", Operation: "GET", Target: "api.example", Status: "503"}, record.EdgeExternalAction,
		},
		{
			"Python requests, old names", ClassHTTP, client,
			map[string]any{"http.method": "POST", "http.url": "http://api.example/CANARY", "http.status_code": 200, "http.target": "/CANARY"},
			&record.Effect{System: "http", Operation: "POST", Target: "api.example", Status: "200"}, record.EdgeExternalAction,
		},
		{
			"a template of the path is no content", ClassHTTP, client,
			map[string]any{"http.request.method": "GET", "server.address": "crm", "url.template": "/customers/{id}", "error.type": "timeout"},
			&record.Effect{System: "http", Operation: "GET", PathTemplate: "/customers/{id}", Target: "crm", Status: "timeout"}, record.EdgeExternalAction,
		},
		{
			"a path in its place is", ClassHTTP, client,
			map[string]any{"http.request.method": "GET", "url.template": "/customers/1234567/CANARY notes"},
			&record.Effect{System: "http", Operation: "GET"}, record.EdgeExternalAction,
		},
		{"a server is not touched by itself", ClassHTTP, server, map[string]any{"http.method": "GET", "server.address": "me"}, nil, ""},
		{"nothing says that it left the process", ClassHTTP, internal, map[string]any{"http.method": "GET", "server.address": "me"}, nil, ""},
		{
			"gRPC, old names", ClassRPC, client,
			map[string]any{"rpc.system": "grpc", "rpc.service": "bank.Accounts", "rpc.method": "Get", "net.peer.name": "api.example", "rpc.grpc.status_code": 14},
			&record.Effect{System: "grpc", Operation: "Get", Namespace: "bank.Accounts", Target: "api.example", Status: "14"}, record.EdgeExternalAction,
		},
		{
			"gRPC, new names", ClassRPC, client,
			map[string]any{"rpc.system.name": "grpc", "rpc.method": "bank.Accounts/Get", "server.address": "api.example", "rpc.response.status_code": "UNAVAILABLE"},
			&record.Effect{System: "grpc", Operation: "bank.Accounts/Get", Target: "api.example", Status: "UNAVAILABLE"}, record.EdgeExternalAction,
		},
		{
			"JSON-RPC", ClassRPC, client,
			map[string]any{"rpc.system": "jsonrpc", "rpc.method": "getBalance", "rpc.jsonrpc.error_code": -32601, "rpc.jsonrpc.error_message": "CANARY"},
			&record.Effect{System: "jsonrpc", Operation: "getBalance", Status: "-32601"}, record.EdgeExternalAction,
		},
		{"an RPC server", ClassRPC, server, map[string]any{"rpc.system": "grpc", "rpc.method": "Get"}, nil, ""},
	})
}

func TestMessagesAndJobsAreHandedOver(t *testing.T) {
	linked := func(s ptrace.Span) { s.Links().AppendEmpty().SetSpanID([8]byte{7}) }
	child := func(s ptrace.Span) { s.SetParentSpanID([8]byte{7}) }
	for name, c := range map[string]struct {
		kind   ptrace.SpanKind
		attrs  map[string]any
		change func(ptrace.Span)
		edge   record.EdgeType
	}{
		"a message that is sent":                    {producer, map[string]any{"messaging.operation.type": "send"}, child, record.EdgeExternalAction},
		"a message that is published, old names":    {producer, map[string]any{"messaging.operation": "publish"}, child, record.EdgeExternalAction},
		"a producer without an operation sends":     {producer, nil, child, record.EdgeExternalAction},
		"a message that is only created":            {producer, map[string]any{"messaging.operation.type": "create"}, child, ""},
		"a batch that is sent by a client":          {client, map[string]any{"messaging.operation.type": "send"}, linked, record.EdgeExternalAction},
		"a message that is fetched":                 {client, map[string]any{"messaging.operation.type": "receive"}, linked, ""},
		"a message that is acknowledged":            {client, map[string]any{"messaging.operation.type": "settle"}, linked, ""},
		"a message that is received, old kind":      {consumer, map[string]any{"messaging.operation": "receive"}, linked, ""},
		"a job that links to its producer":          {consumer, map[string]any{"messaging.operation.type": "process"}, linked, record.EdgeDelegatedJob},
		"a job that is a child of its producer":     {consumer, map[string]any{"messaging.operation": "process"}, child, record.EdgeDelegatedJob},
		"a consumer that does not say what it does": {consumer, nil, linked, record.EdgeDelegatedJob},
		"a job of which nobody knows who asked":     {consumer, map[string]any{"messaging.operation.type": "process"}, func(ptrace.Span) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			attrs := map[string]any{"messaging.system": "kafka", "messaging.destination.name": "orders", "messaging.kafka.message.key": "CANARY", "server.address": "broker"}
			want := record.Effect{System: "kafka", Collection: "orders", Target: "broker"}
			for key, v := range c.attrs {
				attrs[key] = v
				want.Operation = v.(string)
			}
			o := newTestLifter(t).Span(testSpan{kind: c.kind, attrs: attrs, change: c.change}.input(t))
			assert.Equal(t, ClassMessaging, o.Class)
			assert.Equal(t, &want, o.Skeleton.Effect)
			assert.Equal(t, c.edge, o.Skeleton.EdgeType)
			assert.NotContains(t, marshalled(t, o), "CANARY")
		})
	}
}

func TestAProcessIsKnownAndSSHByAllItsMarks(t *testing.T) {
	ssh := func(operation, target, status string) *record.Effect {
		return &record.Effect{System: "ssh", Operation: operation, Target: target, Status: status}
	}
	checkEffects(t, []effectCase{
		{"a protocol", ClassProcess, client, map[string]any{"network.protocol.name": "ssh", "server.address": "bastion"}, ssh("ssh", "bastion", ""), record.EdgeExternalAction},
		{"a protocol of files", ClassProcess, internal, map[string]any{"network.protocol.name": "SFTP", "server.address": "bastion"}, ssh("sftp", "bastion", ""), record.EdgeExternalAction},
		{"an old name of the protocol", ClassProcess, client, map[string]any{"net.app.protocol.name": "ssh"}, ssh("ssh", "", ""), record.EdgeExternalAction},
		{"a port", ClassProcess, client, map[string]any{"server.port": 22, "server.address": "bastion.example"}, ssh("ssh", "bastion.example", ""), record.EdgeExternalAction},
		{"an old name of the port", ClassProcess, client, map[string]any{"net.peer.port": "22", "net.peer.name": "bastion"}, ssh("ssh", "bastion", ""), record.EdgeExternalAction},
		{"a port of a server", ClassOther, server, map[string]any{"server.port": 22}, nil, ""},
		{
			"a program", ClassProcess, internal,
			map[string]any{"process.executable.name": "ssh", "process.command_args": []any{"ssh", "CANARY@host", "CANARY"}, "process.exit.code": 255},
			ssh("ssh", "", "255"), record.EdgeExternalAction,
		},
		{"a path of a program", ClassProcess, client, map[string]any{"process.executable.path": "/usr/bin/scp", "process.command_line": "scp CANARY"}, ssh("scp", "", ""), record.EdgeExternalAction},
		{"a command", ClassProcess, client, map[string]any{"process.command": "/usr/bin/rsync"}, ssh("rsync", "", ""), record.EdgeExternalAction},
		{"a program of Windows", ClassProcess, client, map[string]any{"process.command": `C:\Windows\System32\OpenSSH\ssh.exe`}, ssh("ssh", "", ""), record.EdgeExternalAction},
		{"a password on its line", ClassProcess, client, map[string]any{"process.executable.name": "sshpass", "process.command_line": "sshpass -p CANARY ssh x"}, ssh("sshpass", "", ""), record.EdgeExternalAction},
		{
			"another program", ClassProcess, internal,
			map[string]any{"process.executable.name": "psql", "process.command_line": "psql -c 'CANARY'", "process.exit.code": 1},
			&record.Effect{System: "process", Target: "psql", Status: "1"}, "",
		},
		{"a program whose name begins so", ClassProcess, internal, map[string]any{"process.executable.name": "ssh-keygen"}, &record.Effect{System: "process", Target: "ssh-keygen"}, ""},
		{
			"what is no name of a program", ClassProcess, internal,
			map[string]any{"process.executable.name": "/home/CANARY exempel/CANARY x", "process.command_line": "x", "process.command": "CANARY x", "error.type": "/CANARY-exempel"},
			&record.Effect{System: "process"}, "",
		},
		{
			"a command line where a program's name belongs", ClassProcess, internal,
			map[string]any{
				"process.executable.name": "cat /data/CANARY_kyc.pdf", "process.executable.path": "/bin/sh -c ls\t/CANARY", "process.command": "curl https://h.example/CANARY",
				"process.command_args": []any{"cat /data/CANARY_kyc.pdf"},
			},
			&record.Effect{System: "process"}, "",
		},
	})
}

func TestADestinationThatALibraryFillsWithContentIsNotNamed(t *testing.T) {
	o := newTestLifter(t).Span(testSpan{scope: "autogen-core", kind: producer, attrs: map[string]any{
		"messaging.system": "autogen", "messaging.operation": "publish", "messaging.destination": "group.CANARY-7",
	}}.input(t))
	assert.Equal(t, &record.Effect{System: "autogen", Operation: "publish"}, o.Skeleton.Effect)
}
