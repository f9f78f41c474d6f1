// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json/v2"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/readtrail/readtrail/internal/lint"
)

// showItem prints one item as it comes, and lets nobody wait for it.
func (c *linting) showItem(item *lint.Item) error {
	if c.json {
		if err := c.showLine(struct {
			Item *lint.Item `json:"item"`
		}{item}); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(c.con.out, itemLine(item))
	}
	if err := c.con.out.Flush(); err != nil {
		return fmt.Errorf("%w: %w", errOutput, err)
	}
	return nil
}

func (c *linting) showLine(v any) error {
	raw, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return err
	}
	_, err = c.con.out.Write(append(escapeJSON(raw), '\n'))
	return err
}

// itemLine spells an item as name=value pairs; what is empty is left out.
func itemLine(item *lint.Item) string {
	var pairs []string
	pair := func(name, value string) {
		if value == "" {
			return
		}
		if value = escape(value); strings.ContainsAny(value, ` "=`) {
			value = `"` + strings.ReplaceAll(value, `"`, `\u{22}`) + `"`
		}
		pairs = append(pairs, name+"="+value)
	}
	pair("line", strconv.FormatInt(item.Line, 10))
	if item.Input != standardInput {
		pair("input", item.Input)
	}
	pair("signal", string(item.Signal))
	pair("class", string(item.Class))
	pair("dialect", item.Dialect)
	pair("name", item.Name)
	pair("scope", item.Scope)
	if item.Read {
		pair("read", "yes")
	}
	pair("tool", item.Tool)
	if item.Request != "" {
		pair("call_id", yesNo(item.CallID))
	}
	pair("request", string(item.Request))
	pair("response", string(item.Response))
	if item.Documents > 0 {
		pair("documents", strconv.Itoa(item.Documents))
	}
	pair("kept", string(item.Kept))
	pair("unrecordable", item.Unrecordable)
	pair("flags", strings.Join(item.Flags, ","))
	for _, outcome := range slices.Sorted(maps.Keys(item.Values)) {
		pair(outcome, strconv.FormatInt(item.Values[outcome], 10))
	}
	pair("unknown_keys", strings.Join(item.Unknown, ","))
	return strings.Join(pairs, " ")
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
