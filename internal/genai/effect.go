// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"net/url"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/content"
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
	if s := textOf(it, hostname, "server.address", "net.peer.name", "http.host", "network.peer.address",
		"net.sock.peer.name", "net.sock.peer.addr", "net.peer.ip"); s != "" {
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

// leaves holds for spans of work that leaves the process. A library that does
// not say so says nothing about where the work was done.
var leaves = kind(ptrace.SpanKindClient, ptrace.SpanKindProducer)

// httpEffect and rpcEffect leave out the requests of MCP: they are what the read
// is.
func httpEffect(l *lifting) *record.Effect {
	it := l.item
	if !leaves.holds(it) || l.requestsMCP {
		return nil
	}
	e := &record.Effect{
		System: "http",
		Target: host(it),
		Status: effectStatus(it, "http.response.status_code", "http.status_code"),
	}
	for _, key := range []string{"http.request.method", "http.method"} {
		if e.Operation == "" {
			e.Operation = inClear(key, it.text(key))
		}
	}
	for _, key := range []string{"url.template", "http.route"} {
		if e.PathTemplate == "" {
			e.PathTemplate = inClear(key, it.text(key))
		}
	}
	return e
}

func rpcEffect(l *lifting) *record.Effect {
	it := l.item
	if !leaves.holds(it) || l.requestsMCP {
		return nil
	}
	return &record.Effect{
		System:    textOf(it, name, "rpc.system.name", "rpc.system"),
		Operation: textOf(it, name, "rpc.method"),
		Namespace: textOf(it, name, "rpc.service"),
		Target:    host(it),
		Status:    effectStatus(it, "rpc.response.status_code", "rpc.grpc.status_code", "rpc.jsonrpc.error_code", "rpc.connect_rpc.error_code"),
	}
}

func messagingEffect(l *lifting) *record.Effect {
	it := l.item
	return &record.Effect{
		System:     textOf(it, name, "messaging.system"),
		Operation:  textOf(it, name, "messaging.operation.type", "messaging.operation", "messaging.operation.name"),
		Collection: textOf(it, name, destinations(it)...),
		Target:     host(it),
		Status:     effectStatus(it),
	}
}

// destinations are the keys of where a message goes. In libraries that put
// content under generic names an old one of them is content: AutoGen's topics
// name the conversation.
func destinations(it *item) []string {
	if content.ScopeGate(it.scope.Name()) != 0 {
		return []string{"messaging.destination.name", "messaging.source.name"}
	}
	return []string{"messaging.destination.name", "messaging.destination", "messaging.source.name"}
}

// sshPrograms speak SSH. No convention names a span of SSH.
var sshPrograms = []string{"ssh", "scp", "sftp", "rsync", "sshpass"}

// program returns the file name of the program that a span ran, or "". A path
// with a blank in it may as well be a command line, of which the last part is
// whatever the program works on.
func program(it *item) string {
	first := ""
	if v, ok := it.get("process.command_args"); ok && v.Type() == pcommon.ValueTypeSlice && v.Slice().Len() > 0 {
		first = scalar(v.Slice().At(0))
	}
	for _, path := range []string{
		it.text("process.executable.name"), it.text("process.executable.path"), it.text("process.command"), first,
	} {
		if strings.ContainsAny(path, " \t\r\n") {
			continue
		}
		file := path[strings.LastIndexAny(path, `/\`)+1:]
		if file = inClear("process.executable.name", file); file != "" {
			return file
		}
	}
	return ""
}

// sshOf returns how a span speaks SSH: the program that it ran, or "ssh" for a
// library; "" if it does not.
func sshOf(it *item) string {
	if p := strings.TrimSuffix(strings.ToLower(program(it)), ".exe"); slices.Contains(sshPrograms, p) {
		return p
	}
	if !speaksSSH.holds(it) {
		return ""
	}
	if protocol := textOf(it, token, "network.protocol.name", "net.app.protocol.name"); strings.EqualFold(protocol, "sftp") {
		return "sftp"
	}
	return "ssh"
}

// speaksSSH holds for a connection of which protocol or port says that it is
// SSH.
var speaksSSH = either(
	isAnyCase("network.protocol.name", "ssh", "sftp"),
	isAnyCase("net.app.protocol.name", "ssh", "sftp"),
	all(leaves, either(is("server.port", "22"), is("net.peer.port", "22"))),
)

func processEffect(l *lifting) *record.Effect {
	it := l.item
	if it.kind == ptrace.SpanKindServer {
		return nil
	}
	e := &record.Effect{System: "process", Status: effectStatus(it, "process.exit.code")}
	if e.Operation = sshOf(it); e.Operation != "" {
		e.System, e.Target = "ssh", host(it)
		return e
	}
	if e.Target = host(it); e.Target == "" {
		e.Target = program(it)
	}
	return e
}
