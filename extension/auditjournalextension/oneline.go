// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"errors"
	"strings"
)

// inOneLine joins errors as errors.Join does, in one line: the configuration's path is
// put in front of the text of a section once.
func inOneLine(errs ...error) error {
	err := errors.Join(errs...)
	if err == nil {
		return nil
	}
	return oneLine{err}
}

type oneLine struct{ errors error }

// Error implements error.
func (e oneLine) Error() string { return strings.ReplaceAll(e.errors.Error(), "\n", "; ") }

// Unwrap returns the errors.
func (e oneLine) Unwrap() error { return e.errors }
