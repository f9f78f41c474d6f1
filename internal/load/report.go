// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// Report is what was measured.
type Report struct {
	Options Options
	// Signature is the CPU of a bare Ed25519 signature, and Sync what an append of
	// 4 KiB and its fsync take; medians.
	Signature, Sync time.Duration
	// Tables has one table for each content.
	Tables []Table
}

// Table compares the contenders that got the same content.
type Table struct {
	Content string
	// BytesPerSpan is the protobuf of a span.
	BytesPerSpan int
	// Figures are those of the baseline and of the contenders behind it.
	Figures []Figure
}

// Figure is what one contender's spans cost.
type Figure struct {
	Name string
	// CPU is that of one span in the collector's process: the median, the least
	// and the most over the rounds.
	CPU, Least, Most time.Duration
	// Bytes is what one span takes of the output.
	Bytes int64
	// Rate is how many spans a second were answered, the median.
	Rate float64
	// Speed is how many spans it handles in a second of CPU, divided by those of
	// the baseline in the same round, the median: 1 is as fast.
	Speed float64
	// Signatures is what a span costs more than the baseline's in the same round,
	// in bare signatures of that round, the median.
	Signatures float64
}

// report works out the figures.
func (l *load) report() (*Report, error) {
	sync, err := syncTime(l.Dir)
	if err != nil {
		return nil, err
	}
	r := &Report{Options: l.Options, Signature: median(l.signing[1:]), Sync: sync}
	for _, f := range l.fields {
		t := Table{Content: f.content.Name, BytesPerSpan: f.sender.bytesPerSpan()}
		for _, c := range f.running {
			t.Figures = append(t.Figures, l.figure(c, f.running[0]))
		}
		r.Tables = append(r.Tables, t)
	}
	return r, nil
}

// figure works out what a contender's spans cost. The first round warmed up.
func (l *load) figure(c, baseline *running) Figure {
	spans := time.Duration(l.Requests * SpansPerRequest)
	perSpan := func(c *running, round int) time.Duration { return (c.cpu[round+1] - c.cpu[round]) / spans }
	var cpu []time.Duration
	var rate, speed, signatures []float64
	for round := 1; round <= l.Rounds; round++ {
		own, base := perSpan(c, round), perSpan(baseline, round)
		cpu = append(cpu, own)
		rate = append(rate, float64(spans)/c.took[round].Seconds())
		speed = append(speed, float64(base)/float64(own))
		signatures = append(signatures, float64(own-base)/float64(l.signing[round]))
	}
	return Figure{
		Name: c.Name, Bytes: c.bytes / int64(len(c.took)*int(spans)), CPU: median(cpu), Least: slices.Min(cpu), Most: slices.Max(cpu),
		Rate: median(rate), Speed: median(speed), Signatures: median(signatures),
	}
}

func median[T cmp.Ordered](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// Write prints the report as tables.
func (r *Report) Write(w io.Writer) error {
	o := &r.Options
	fmt.Fprintf(w, "OTLP/gRPC, %d spans a request, %d connections, %d rounds of %d requests in turn, GOMAXPROCS=%d\n",
		SpansPerRequest, o.Connections, o.Rounds, o.Requests, o.Processors)
	fmt.Fprintf(w, "bare Ed25519 signature: %.1f us of CPU; append of 4 KiB and fsync: %.2f ms\n", micros(r.Signature), 1000*r.Sync.Seconds())
	for _, t := range r.Tables {
		fmt.Fprintf(w, "\nresults of 1 KB of %s, %d bytes of protobuf a span\n", t.Content, t.BytesPerSpan)
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(table, "\tbytes/span\tus CPU/span\tleast\tmost\tspans/s\tspans/CPU s\tto %s's\tover %[1]s, in signatures\t\n", t.Figures[0].Name)
		for _, f := range t.Figures {
			fmt.Fprintf(table, "%s\t%d\t%.1f\t%.1f\t%.1f\t%.0f\t%.0f\t%.2f\t%.2f\t\n", f.Name, f.Bytes, micros(f.CPU), micros(f.Least), micros(f.Most),
				f.Rate, 1/f.CPU.Seconds(), f.Speed, f.Signatures)
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func micros(d time.Duration) float64 { return 1e6 * d.Seconds() }
