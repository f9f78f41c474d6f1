// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package evidencestoreextension

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/readtrail/readtrail/internal/durable"
)

// diskCause returns what the disk said, without paths and digests: those who run
// the collector are told where (in the log), those who send to it are not. It
// returns nil for an error that is not about the disk.
func diskCause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	var number syscall.Errno
	switch {
	case errors.Is(err, durable.ErrGone):
		return fmt.Errorf("the directory %w", durable.ErrGone)
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	case errors.As(err, &number):
		return number
	}
	return nil
}

// forSender is what a sender is told.
func forSender(err error) error {
	if cause := diskCause(err); cause != nil {
		return fmt.Errorf("copies cannot be stored: %w", cause)
	}
	return err
}
