// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:build dist

// Package main is the part of bin/readtrail-collector that the collector's builder does
// not generate. The Makefile puts it beside what it does.
package main

import "github.com/readtrail/readtrail/internal/headroom"

func init() { headroom.Keep(headroom.Default) }
