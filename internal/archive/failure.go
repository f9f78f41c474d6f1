// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
)

var (
	// ErrNoObjectLock says that nothing in a bucket can be locked.
	ErrNoObjectLock = errors.New("bucket has no Object Lock: create one that has " +
		"(aws s3api create-bucket --object-lock-enabled-for-bucket), it cannot be turned on without versioning")
	// ErrConflict says that the oldest version of an object is not what the journal
	// holds. Somebody was there first, or the journal was changed.
	ErrConflict = errors.New("the archive holds other bytes under this name: " +
		"examine both copies (readtrail verify), nothing was overwritten")
	// ErrNotLocked says that the server does not lock an object as it was told to.
	ErrNotLocked = errors.New("the server does not lock the object as demanded")
	// ErrClock says that a retain-until date would be wrong.
	ErrClock = errors.New("the clock of this machine and that of the S3 server differ")
	// ErrAbsent says that the archive does not hold an object.
	ErrAbsent = errors.New("the archive does not hold it")
)

// callError is a failed call. Its text holds nothing that the server chose but
// a code.
type callError struct {
	text  string
	cause error
}

// Error implements error.
func (e *callError) Error() string { return e.text }

// Unwrap returns what the SDK says.
func (e *callError) Unwrap() error { return e.cause }

var errorCode = regexp.MustCompile(`^[A-Za-z0-9.]{1,64}$`)

// failed tells in one line what call failed on what, and what to do about it.
func (b *Bucket) failed(action, key string, err error) error {
	text := action + " " + b.url(key) + ": "
	status, code := statusOf(err), codeOf(err)
	var sent *url.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		text += "no answer in time; whether it was done shows when the bucket is looked at again"
	case errors.Is(err, context.Canceled):
		text += "interrupted"
	case code != "" && errorCode.MatchString(code):
		text += fmt.Sprintf("%s (HTTP %d)%s", code, status, advice(code))
	case status != 0:
		text += fmt.Sprintf("HTTP %d", status)
	case errors.As(err, &sent):
		text += sent.Err.Error()
	default:
		text += "the call failed: " + innermost(err).Error()
	}
	if errors.Is(err, io.EOF) {
		// A connection that ended is not the end of what is read.
		err = io.ErrUnexpectedEOF
	}
	return &callError{text, err}
}

// advice says what to do about an error code.
func advice(code string) string {
	switch code {
	case "AccessDenied", "Forbidden":
		return "; see the bucket policies in docs/archive.md for what each identity needs"
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken":
		return "; the credentials of the AWS SDK's default chain are not those of this server"
	case "NoSuchBucket":
		return "; create it with Object Lock"
	}
	return ""
}

// codeOf returns the code of the server's answer, "" if there was none.
func codeOf(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

// statusOf returns the HTTP status of the server's answer, 0 if there was none.
func statusOf(err error) int {
	var response *awshttp.ResponseError
	if errors.As(err, &response) {
		return response.HTTPStatusCode()
	}
	return 0
}

func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
