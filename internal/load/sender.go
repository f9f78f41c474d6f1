// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"fmt"
	"sync/atomic"

	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
)

// exportMethod is that of OTLP/gRPC for traces.
const exportMethod = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"

// preparedRequests is how many requests are encoded before the load begins, so
// that the sender takes next to nothing of the machine.
const preparedRequests = 32

// sender sends requests that were encoded before over a number of connections.
type sender struct {
	// prepared are the requests of each connection, which it has for itself.
	prepared [][]*request
	// named counts the requests sent, whoever they went to.
	named atomic.Uint64
}

func newSender(content Content, connections int) (*sender, error) {
	s := &sender{prepared: make([][]*request, connections)}
	for i := range max(preparedRequests, connections) {
		r, err := newRequest(content, i)
		if err != nil {
			return nil, err
		}
		s.prepared[i%connections] = append(s.prepared[i%connections], r)
	}
	return s, nil
}

// bytesPerSpan is how much protobuf a span takes, with its part of what the spans
// of a request share.
func (s *sender) bytesPerSpan() int { return len(s.prepared[0][0].encoded) / SpansPerRequest }

// dial connects to a collector once for each connection.
func (s *sender) dial(address string) ([]*grpc.ClientConn, error) {
	var conns []*grpc.ClientConn
	for range s.prepared {
		conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithDefaultCallOptions(grpc.ForceCodecV2(encoded{})))
		if err != nil {
			return nil, err
		}
		conns = append(conns, conn)
	}
	return conns, nil
}

// send sends requests, each as soon as its connection has the answer to the one
// before, and demands that every span is accepted.
func (s *sender) send(ctx context.Context, conns []*grpc.ClientConn, requests int) error {
	var begun atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for i, conn := range conns {
		group.Go(func() error {
			for n := 0; begun.Add(1) <= int64(requests); n++ {
				r := s.prepared[i][n%len(s.prepared[i])]
				if err := export(ctx, conn, r.name(s.named.Add(1))); err != nil {
					return fmt.Errorf("export: %w", err)
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// export sends one request.
func export(ctx context.Context, conn *grpc.ClientConn, request []byte) error {
	var answer []byte
	if err := conn.Invoke(ctx, exportMethod, request, &answer); err != nil {
		return err
	}
	response := ptraceotlp.NewExportResponse()
	if err := response.UnmarshalProto(answer); err != nil {
		return err
	}
	if n := response.PartialSuccess().RejectedSpans(); n > 0 {
		return fmt.Errorf("the collector rejected %d spans", n)
	}
	return nil
}

// encoded is a codec for messages that are encoded already.
type encoded struct{}

// Name implements encoding.CodecV2.
func (encoded) Name() string { return "proto" }

// Marshal implements encoding.CodecV2.
func (encoded) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

// Unmarshal implements encoding.CodecV2.
func (encoded) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}
