// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Command loadbench sends tool calls to the built collector over OTLP/gRPC and
// reports what a span costs on its way to the durable journal, against contrib's
// file exporter in the same collector, as part of `make bench`. It writes below a
// temporary directory of its own, which it removes.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/readtrail/readtrail/internal/load"
)

func main() {
	o := load.Options{Contents: load.Contents(), Contenders: append(load.Journals(), load.Receiving())}
	flag.StringVar(&o.Collector, "collector", "bin/readtrail-collector", "the built collector")
	flag.StringVar(&o.CLI, "cli", "bin/readtrail", "the built command")
	parent := flag.String("dir", "", "a directory on the disk to write to; the system's for temporary files if none is given")
	flag.IntVar(&o.Rounds, "rounds", 9, "how often each contender has its turn")
	flag.IntVar(&o.Requests, "requests", 200, "how many requests it is sent each time")
	flag.IntVar(&o.Connections, "connections", 4, "over how many connections")
	flag.IntVar(&o.Processors, "processors", 1, "GOMAXPROCS of the collectors")
	flag.DurationVar(&o.Settle, "settle", 6*time.Second, "how long the collectors run on at the end")
	only := flag.String("only", "", "the contenders to measure against the file exporter, separated by commas; all if none is named")
	content := flag.String("content", "", "the contents to send, separated by commas; all if none is named")
	flag.Parse()
	o.Contents = slices.DeleteFunc(o.Contents, func(c load.Content) bool { return unnamed(*content, c.Name) })
	o.Contenders = slices.DeleteFunc(o.Contenders, func(c load.Contender) bool { return unnamed(*only, c.Name) })
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o, *parent); err != nil {
		fmt.Fprintln(os.Stderr, "loadbench:", err)
		os.Exit(1)
	}
}

// unnamed reports whether a list names others only.
func unnamed(list, name string) bool {
	return list != "" && !slices.Contains(strings.Split(list, ","), name)
}

func run(ctx context.Context, o load.Options, parent string) error {
	var err error
	if o.Dir, err = os.MkdirTemp(parent, "readtrail-load-"); err != nil {
		return err
	}
	defer os.RemoveAll(o.Dir)
	report, err := load.Run(ctx, o)
	if err != nil {
		return err
	}
	return report.Write(os.Stdout)
}
