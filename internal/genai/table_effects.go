// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

// effectRows are what a tool touches: databases, HTTP, RPC, messages,
// processes. They are no reads; lineage hangs them under the span that caused
// them.
func effectRows() []row {
	return []row{
		{
			when:  has("db.system.name", "db.system"),
			class: ClassDB,
			names: []string{
				"{db.operation.name} {db.collection.name}", "{db.operation.name} {db.namespace}.{db.collection.name}",
				"{db.operation.name} {db.namespace}", "{db.operation.name}", "{db.operation} {db.name}.{db.sql.table}",
				"{db.operation} {db.name}", "{db.operation}", "{db.system.name}", "{db.namespace}",
				"{db.system.name}-{db.operation.name}", "redis-{db.operation.name}", "redis-connect", "pg.connect",
			},
			effect: databaseEffect, edge: actsOutside,
		},
		{
			when:   either(speaksSSH, has("process.executable.name", "process.executable.path", "process.command")),
			class:  ClassProcess,
			names:  []string{"{process.executable.name}", "exec {process.executable.name}"},
			effect: processEffect, edge: actsBySSH,
		},
		{
			when:  has("messaging.system"),
			class: ClassMessaging,
			names: []string{
				"{messaging.operation.name} {messaging.destination.name}", "{messaging.destination.name} {messaging.operation.type}",
				"{messaging.destination.name} {messaging.operation}", "{messaging.operation.name}",
			},
			effect: messagingEffect, edge: passesMessages,
		},
		{
			when:   has("rpc.system.name", "rpc.system"),
			class:  ClassRPC,
			names:  []string{"{rpc.method}", "{rpc.service}/{rpc.method}"},
			effect: rpcEffect, edge: actsOutside,
		},
		{
			when:  has("http.request.method", "http.method"),
			class: ClassHTTP,
			names: []string{
				"{http.request.method}", "{http.request.method} {http.route}", "{http.request.method} {url.template}",
				"{http.method}", "{http.method} {http.route}", "HTTP {http.request.method}", "HTTP {http.method}", "HTTP",
			},
			effect: httpEffect, edge: actsOutside,
		},
	}
}
