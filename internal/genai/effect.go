// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"net/url"

	"github.com/readtrail/readtrail/record"
)

// textOf returns the first of the attributes that has a shape, or "".
func textOf(it *item, shape func(string) string, keys ...string) string {
	for _, key := range keys {
		if s := shape(it.text(key)); s != "" {
			return s
		}
	}
	return ""
}

// effectStatus returns the status that the other side gave, else the type of
// the error.
func effectStatus(it *item, keys ...string) string {
	if s := textOf(it, token, keys...); s != "" {
		return s
	}
	return textOf(it, typeName, "error.type")
}

// host returns the host that the item talked to. A URL gives its host only.
func host(it *item) string {
	if s := textOf(it, hostname, "server.address", "net.peer.name", "http.host", "network.peer.address", "net.peer.ip"); s != "" {
		return s
	}
	for _, key := range []string{"url.full", "http.url"} {
		s := it.text(key)
		if len(s) > maxURL {
			continue
		}
		if u, err := url.Parse(s); err == nil {
			if h := hostname(u.Hostname()); h != "" {
				return h
			}
		}
	}
	return ""
}

// maxURL is the longest URL that is parsed, in bytes.
const maxURL = 8 << 10

func databaseEffect(it *item) *record.Effect {
	target := textOf(it, name, "db.collection.name", "db.sql.table", "db.mongodb.collection", "db.cassandra.table",
		"db.cosmosdb.container", "db.namespace", "db.name")
	if target == "" {
		target = host(it)
	}
	return &record.Effect{
		System: textOf(it, name, "db.system.name", "db.system"),
		Target: target,
		Status: effectStatus(it, "db.response.status_code"),
	}
}

func httpEffect(it *item) *record.Effect {
	if !clientSpan.holds(it) {
		return nil
	}
	return &record.Effect{
		System: "http",
		Target: host(it),
		Status: effectStatus(it, "http.response.status_code", "http.status_code"),
	}
}

func rpcEffect(it *item) *record.Effect {
	if !clientSpan.holds(it) {
		return nil
	}
	return &record.Effect{
		System: textOf(it, name, "rpc.system.name", "rpc.system"),
		Target: host(it),
		Status: effectStatus(it, "rpc.response.status_code", "rpc.grpc.status_code"),
	}
}

func messagingEffect(it *item) *record.Effect {
	target := textOf(it, name, "messaging.destination.name")
	if target == "" {
		target = host(it)
	}
	return &record.Effect{
		System: textOf(it, name, "messaging.system"),
		Target: target,
		Status: effectStatus(it),
	}
}

func processEffect(it *item) *record.Effect {
	system := "process"
	if sshSpan.holds(it) {
		system = "ssh"
	}
	target := host(it)
	if target == "" {
		target = inClear("process.executable.name", it.text("process.executable.name"))
	}
	return &record.Effect{
		System: system,
		Target: target,
		Status: effectStatus(it, "process.exit.code"),
	}
}
