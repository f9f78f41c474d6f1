// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"syscall"
)

// maxAnswerBytes bounds what is read of an answer.
const maxAnswerBytes = 64 << 10

// maxPosts bounds how often a request is sent whose connection was cut.
const maxPosts = 3

// post sends a request and returns status and body of the answer. A server that
// refuses without reading the request may cut the connection while it is written, and
// its answer gets lost: then it is asked again. What is asked for may be asked twice.
func post(ctx context.Context, client *http.Client, url, contentType string, body []byte) (status int, answer []byte, err error) {
	for range maxPosts {
		if status, answer, err = postOnce(ctx, client, url, contentType, body); !wasCut(err) {
			return status, answer, err
		}
	}
	return status, answer, err
}

// wasCut says whether the other side ended a connection that it had taken.
func wasCut(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF)
}

func postOnce(ctx context.Context, client *http.Client, url, contentType string, body []byte) (int, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, errors.New("endpoint is not a URL")
	}
	request.Header.Set("Content-Type", contentType)
	response, err := client.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return 0, nil, failed(ReasonTimeout, "no answer in time: %w", context.Cause(ctx))
		}
		return 0, nil, failed(ReasonUnreachable, "%w", err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes+1))
	switch {
	case err != nil && ctx.Err() != nil:
		return 0, nil, failed(ReasonTimeout, "no whole answer in time: %w", context.Cause(ctx))
	case err != nil:
		return 0, nil, failed(ReasonUnreachable, "read answer: %w", err)
	case len(answer) > maxAnswerBytes:
		return 0, nil, failed(ReasonInvalid, "the answer has more than %d bytes", maxAnswerBytes)
	}
	return response.StatusCode, answer, nil
}
