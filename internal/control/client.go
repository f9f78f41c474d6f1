// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
)

// maxResponseBytes is the largest answer: the segments of a long pruning.
const maxResponseBytes = 64 << 20

// Client asks a running collector.
type Client struct{ http *http.Client }

// NewClient returns a client of the collector that listens in a directory. It
// returns ErrNoCollector if none does.
func NewClient(dir string) (*Client, error) {
	conn, err := dial(dir)
	if err != nil {
		return nil, err
	}
	if err := conn.Close(); err != nil {
		return nil, err
	}
	return &Client{&http.Client{Transport: &http.Transport{
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return dial(dir) },
		DisableKeepAlives: true,
	}}}, nil
}

// Standing returns which holds are set and where the journal begins.
func (c *Client) Standing(ctx context.Context, r StandingRequest) (ledger.Standing, error) {
	return post[ledger.Standing](ctx, c, pathStanding, r)
}

// SetHold sets a legal hold.
func (c *Client) SetHold(ctx context.Context, r HoldRequest) (journal.Receipt, error) {
	return post[journal.Receipt](ctx, c, pathHoldSet, r)
}

// LiftHold lifts a legal hold.
func (c *Client) LiftHold(ctx context.Context, r HoldRequest) (journal.Receipt, error) {
	return post[journal.Receipt](ctx, c, pathHoldLifted, r)
}

// Prune prunes. Of an error that is an *Error, Done says what was done before.
func (c *Client) Prune(ctx context.Context, r PruneRequest) (PruneResponse, error) {
	return post[PruneResponse](ctx, c, pathPrune, r)
}

// post returns an *Error that the collector gave, or another one if nobody knows
// what it did.
func post[Response any](ctx context.Context, c *Client, path string, request any) (response Response, err error) {
	body, err := json.Marshal(request)
	if err != nil {
		return response, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://control"+path, bytes.NewReader(body))
	if err != nil {
		return response, err
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return response, fmt.Errorf("ask the collector: %w; whether it did it shows in the journal", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxResponseBytes))
	if err != nil {
		return response, fmt.Errorf("ask the collector: %w; whether it did it shows in the journal", err)
	}
	if answer.StatusCode == http.StatusOK {
		err = json.Unmarshal(text, &response)
	} else {
		failure := &Error{}
		if err = json.Unmarshal(text, failure); err == nil && failure.Code != "" {
			return response, failure
		}
		err = errors.Join(err, fmt.Errorf("status %d", answer.StatusCode))
	}
	if err != nil {
		return response, fmt.Errorf("the collector's answer cannot be read (another version?): %w", err)
	}
	return response, nil
}
