// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"errors"
	"slices"
	"strings"
)

// Command is a command for another host.
type Command struct {
	// Host is as it was asked for: a name, an alias. The runner's Resolver says what it
	// means.
	Host string
	// Template is the command with names in braces in place of values, such as
	// systemctl restart {unit}. It stands in the journal; braces have no other use in it.
	Template string
	// Values are those of the names. Each is quoted for a POSIX shell, so that it is one
	// word and nothing but a word. They stand in no record, only in the digest of the whole
	// command.
	Values map[string]string
	// Input is what the command reads from its standard input. It stands in no record but
	// by its digest.
	Input []byte
}

var errTemplate = errors.New("boundary: the command's template and its values do not fit together")

// line fills the template.
func (c *Command) line() (string, error) {
	var line strings.Builder
	var used []string
	for rest := c.Template; ; {
		before, after, has := strings.Cut(rest, "{")
		if strings.Contains(before, "}") {
			return "", errTemplate
		}
		line.WriteString(before)
		if !has {
			break
		}
		name, behind, closed := strings.Cut(after, "}")
		value, known := c.Values[name]
		if !closed || !known || strings.ContainsRune(value, 0) {
			return "", errTemplate
		}
		line.WriteString(quote(value))
		used = append(used, name)
		rest = behind
	}
	for name := range c.Values {
		if !slices.Contains(used, name) {
			return "", errTemplate
		}
	}
	if strings.TrimSpace(line.String()) == "" {
		return "", errTemplate
	}
	return line.String(), nil
}

// quote makes one word of a value for a POSIX shell.
func quote(value string) string {
	return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}
