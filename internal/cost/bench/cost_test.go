// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json/jsontext"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/redactionprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/transformprocessor"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"
	"golang.org/x/sys/unix"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/cost"
	"github.com/readtrail/readtrail/processor/readrecordprocessor"
)

// contender is something that works on a request in place.
type contender struct {
	name string
	run  func(ptrace.Traces)
}

// BenchmarkCost reports what a span costs us, divided by what it costs each
// baseline. Within a round every contender works on a copy of the same request,
// one after the other; making the copy is not timed. What is timed is the CPU of
// the thread, and a ratio is the median over the rounds, so that neither other
// processes nor a round in which the machine was busy count. Before it is timed a
// contender works on another copy, so that its code and tables are in the caches
// as in a pipeline that does nothing else.
func BenchmarkCost(b *testing.B) {
	ours := []contender{
		readRecord(b, "strip", map[string]any{"records": false}),
		readRecord(b, "records", nil),
	}
	known := []contender{
		readRecord(b, "known", map[string]any{"records": false, "mode": "known"}),
		readRecord(b, "strict", map[string]any{"records": false}),
		readRecord(b, "records", nil),
	}
	b.Run("tool_plain_text", func(b *testing.B) {
		compare(b, cost.ToolCalls(cost.PlainText), ours, redaction(b, "hmac-sha256"), redaction(b, "sha3"), transform(b))
	})
	b.Run("tool_nested_json", func(b *testing.B) {
		compare(b, cost.ToolCalls(cost.NestedJSON), ours, contender{"canonicalize_and_hash", canonicalizeAndHash})
	})
	walks := []contender{{"walk", walk}, {"headers_walk", walkHeaders}}
	b.Run("unknown_http", func(b *testing.B) { compare(b, cost.HTTPServer(), known, walks...) })
	b.Run("unknown_internal", func(b *testing.B) { compare(b, cost.InternalSpans(), known, walks...) })
}

// compare reports, for each of ours, its ratio to every baseline and its time.
func compare(b *testing.B, request ptrace.Traces, ours []contender, baselines ...contender) {
	all := append(slices.Clone(ours), baselines...)
	times := make([][]float64, len(all))
	for b.Loop() {
		for i, c := range all {
			measure(c, request)
			times[i] = append(times[i], measure(c, request))
		}
	}
	b.ReportMetric(0, "ns/op") // a round; says nothing
	for i, c := range all {
		b.ReportMetric(median(times[i])/cost.SpansPerRequest, c.name+"-ns/span")
	}
	for i, our := range ours {
		for j, base := range baselines {
			ratios := make([]float64, len(times[i]))
			for round := range ratios {
				ratios[round] = times[i][round] / times[len(ours)+j][round]
			}
			b.ReportMetric(median(ratios), our.name+"/"+base.name)
		}
	}
}

// measure returns the nanoseconds of CPU that a request takes.
func measure(c contender, request ptrace.Traces) float64 {
	td := ptrace.NewTraces()
	request.CopyTo(td)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := threadTime()
	c.run(td)
	return float64(threadTime() - begin)
}

// threadTime returns the CPU that this thread has used.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

func create(tb testing.TB, factory processor.Factory, config map[string]any, next func(context.Context, ptrace.Traces) error) func(ptrace.Traces) {
	tb.Helper()
	cfg := factory.CreateDefaultConfig()
	require.NoError(tb, confmap.NewFromStringMap(config).Unmarshal(cfg))
	sink, err := consumer.NewTraces(next)
	require.NoError(tb, err)
	p, err := factory.CreateTraces(context.Background(), processortest.NewNopSettings(factory.Type()), cfg, sink)
	require.NoError(tb, err)
	return func(td ptrace.Traces) {
		if err := p.ConsumeTraces(context.Background(), td); err != nil {
			panic(err)
		}
	}
}

func ignore(context.Context, ptrace.Traces) error { return nil }

// readRecord is our processor. What it hands on is kept alive until the next
// request, as an exporter would.
func readRecord(tb testing.TB, name string, config map[string]any) contender {
	var batch *carrier.Batch
	run := create(tb, readrecordprocessor.NewFactory(), config, func(ctx context.Context, _ ptrace.Traces) error {
		batch = carrier.FromContext(ctx)
		return nil
	})
	return contender{name, func(td ptrace.Traces) {
		run(td)
		runtime.KeepAlive(batch)
	}}
}

// redaction is contrib's redaction processor hashing the two contents.
func redaction(tb testing.TB, hash string) contender {
	config := map[string]any{
		"allow_all_keys":       true,
		"blocked_key_patterns": []any{`^gen_ai\.tool\.call\.arguments$`, `^gen_ai\.tool\.call\.result$`},
		"hash_function":        hash,
		"summary":              "silent",
	}
	if hash == "hmac-sha256" {
		config["hmac_key"] = strings.Repeat("k", sha256.Size)
	}
	return contender{"redaction_" + hash, create(tb, redactionprocessor.NewFactory(), config, ignore)}
}

// transform is the transform processor hashing one of the two contents.
func transform(tb testing.TB) contender {
	statement := `set(span.attributes["` + cost.ResultKey + `"], SHA256(span.attributes["` + cost.ResultKey + `"]))`
	config := map[string]any{"trace_statements": []any{map[string]any{"statements": []any{statement}}}}
	return contender{"transform_sha256", create(tb, transformprocessor.NewFactory(), config, ignore)}
}

// each calls f with the attributes of every span.
func each(td ptrace.Traces, f func(pcommon.Map)) {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				f(span.Attributes())
			}
		}
	}
}

// walked is where a walk leaves what it saw, so that it is not optimized away.
var walked int

// walk reads every attribute once, byte by byte: who does less can't know
// what an attribute holds.
func walk(td ptrace.Traces) {
	n := 0
	each(td, func(attributes pcommon.Map) {
		for key, v := range attributes.All() {
			n += read(key)
			if v.Type() == pcommon.ValueTypeStr {
				n += read(v.Str())
			}
		}
	})
	walked = n
}

func read(s string) (n int) {
	for i := range len(s) {
		n += int(s[i])
	}
	return n
}

// walkHeaders visits every attribute but reads neither keys nor values, only
// how long and of what type they are: the least that a loop can do.
func walkHeaders(td ptrace.Traces) {
	n := 0
	each(td, func(attributes pcommon.Map) {
		for key, v := range attributes.All() {
			n += len(key) + int(v.Type())
		}
	})
	walked = n
}

var digested string

// canonicalizeAndHash does what no program can do without that digests JSON in
// the form of RFC 8785: canonicalize a copy, look at every number, hash, spell.
func canonicalizeAndHash(td ptrace.Traces) {
	each(td, func(attributes pcommon.Map) {
		for _, key := range []string{cost.ArgumentsKey, cost.ResultKey} {
			v, _ := attributes.Get(key)
			value := jsontext.Value(v.Str())
			if err := value.Canonicalize(); err != nil || !exact(value) {
				panic("the benchmark's content is not in the form jcs")
			}
			sum := sha256.Sum256(value)
			digested = hex.EncodeToString(sum[:])
		}
	})
}

// exact reports whether every number of canonical JSON has at most 15 digits,
// which a double keeps.
func exact(value []byte) bool {
	const digits = 15
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == '"':
			for i++; value[i] != '"'; i++ {
				if value[i] == '\\' {
					i++
				}
			}
		case '0' <= c && c <= '9':
			begin := i
			for i < len(value) && ('0' <= value[i] && value[i] <= '9' || value[i] == '.') {
				i++
			}
			if i-begin > digits {
				return false
			}
		}
	}
	return true
}

func TestContentsHaveTheSizeThatTheFiguresName(t *testing.T) {
	for name, content := range map[string]func(int) (string, string){"plain": cost.PlainText, "json": cost.NestedJSON} {
		arguments, result := content(7)
		for _, c := range []string{arguments, result} {
			require.InDelta(t, cost.ContentBytes, len(c), 150, name)
		}
		require.Equal(t, name == "json", jsontext.Value(arguments).IsValid() && jsontext.Value(result).IsValid(), strconv.Quote(result))
	}
}
