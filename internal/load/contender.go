// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"google.golang.org/grpc"

	"github.com/readtrail/readtrail/internal/rig"
)

var (
	//go:embed file.yaml
	fileYAML []byte
	//go:embed journal.yaml
	journalYAML []byte
	//go:embed receive.yaml
	receiveYAML []byte
)

// Contender is a way from OTLP/gRPC to a file through the collector.
type Contender struct {
	// Name is how the report calls it.
	Name   string
	config []byte
	env    []string
	writes output
}

// output is what a contender writes.
type output int

const (
	// outputFile is a file with spans in OTLP/JSON.
	outputFile output = iota
	// outputJournal is a journal, which has to verify.
	outputJournal
	// outputNone is nothing.
	outputNone
)

// file is the baseline: contrib's file exporter.
func file() Contender { return Contender{Name: "file", config: fileYAML, writes: outputFile} }

// Receiving writes nothing: what it costs is in all others.
func Receiving() Contender {
	return Contender{Name: "receiving", config: receiveYAML, writes: outputNone}
}

// Journals are what is measured against the baseline.
func Journals() []Contender {
	return []Contender{
		journal("journal-entry", "entry", false),
		journal("journal-group", "group", false),
		journal("journal-entry-lineage", "entry", true),
		journal("journal-group-lineage", "group", true),
	}
}

// journal is the journal with the signatures that its option names, with lineage
// records or without.
func journal(name, signatures string, lineage bool) Contender {
	return Contender{
		Name: name, config: journalYAML, writes: outputJournal,
		env: []string{"LOAD_SIGNATURES=" + signatures, "LOAD_LINEAGE=" + strconv.FormatBool(lineage)},
	}
}

// running is a contender whose collector runs.
type running struct {
	Contender
	sender    *sender
	collector *rig.Collector
	conns     []*grpc.ClientConn
	output    string
	// cpu is the collector's clock at the begin of each round, and at the end.
	cpu []time.Duration
	// took is how long each round lasted.
	took []time.Duration
	// bytes are those of the output, once it is counted.
	bytes int64
}

// startOne starts the collector of a contender.
func (l *load) startOne(ctx context.Context, f *field, c Contender) (*running, error) {
	r := &running{Contender: c, sender: f.sender, output: filepath.Join(l.Dir, f.content.Name+"-"+c.Name)}
	config := r.output + ".yaml"
	if err := os.WriteFile(config, c.config, 0o600); err != nil {
		return nil, err
	}
	var err error
	if r.collector, err = rig.Start(ctx, rig.Config{
		Command:    []string{l.Collector},
		ConfigFile: config,
		Env: append([]string{
			"GOMAXPROCS=" + strconv.Itoa(l.Processors), "LOAD_OUTPUT=" + r.output, "LOAD_KEY=" + l.keyFile(),
		}, c.env...),
	}); err != nil {
		return nil, err
	}
	if r.conns, err = f.sender.dial(r.collector.GRPC); err != nil {
		r.collector.Kill()
		return nil, err
	}
	return r, nil
}

// note reads the clock of the collector.
func (r *running) note() error {
	cpu, err := processCPU(r.collector.PID())
	r.cpu = append(r.cpu, cpu)
	return err
}

// round sends the requests of a round.
func (r *running) round(ctx context.Context, requests int) error {
	if err := r.note(); err != nil {
		return err
	}
	begun := time.Now()
	if err := r.sender.send(ctx, r.conns, requests); err != nil {
		return err
	}
	r.took = append(r.took, time.Since(begun))
	return nil
}

// stop ends the collector and demands that it wrote every span that it accepted.
func (r *running) stop(ctx context.Context, l *load) error {
	for _, conn := range r.conns {
		_ = conn.Close() // ends with the process that is told to stop
	}
	if err := r.collector.Stop(); err != nil {
		return fmt.Errorf("%s: stop the collector: %w\n%s", r.Name, err, r.collector.Output())
	}
	spans := len(r.took) * l.Requests * SpansPerRequest
	files, mark := []string{r.output}, `"spanId":`
	switch r.writes {
	case outputNone:
		return nil
	case outputJournal:
		if out, err := exec.CommandContext(ctx, l.CLI, "verify", r.output, "--keys", l.registryFile()).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: verify: %w\n%s", r.Name, err, out)
		}
		mark = `"read_record":`
		var err error
		if files, err = filepath.Glob(filepath.Join(r.output, "*", "*", "*", "*.events")); err != nil {
			return err
		}
	}
	written := 0
	for _, file := range files {
		n, err := r.count(file, []byte(mark))
		if err != nil {
			return err
		}
		written += n
	}
	if written != spans {
		return fmt.Errorf("%s: %d spans were accepted and %d were written", r.Name, spans, written)
	}
	return nil
}

// maxLine is more than a line of any output, in bytes.
const maxLine = 64 << 20

// count counts how often a mark stands in a file, and the file's bytes.
func (r *running) count(file string, mark []byte) (marks int, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		marks += bytes.Count(lines.Bytes(), mark)
		r.bytes += int64(len(lines.Bytes()) + len("\n"))
	}
	return marks, lines.Err()
}
