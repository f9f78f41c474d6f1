// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"mime"
	"slices"
	"strings"
)

// The types of body that the API takes.
const (
	mediaJSON   = "application/json"
	mediaNDJSON = "application/x-ndjson"
)

// mediaOf returns the type that a Content-Type names if it is one of those wanted. Text
// is UTF-8, whether it says so or not, and nothing else.
func mediaOf(header, wanted []string) (media string, ok bool) {
	if len(header) != 1 {
		return "", false
	}
	media, parameters, err := mime.ParseMediaType(header[0])
	if err != nil || !slices.Contains(wanted, media) {
		return "", false
	}
	for name, value := range parameters {
		if name != "charset" || !strings.EqualFold(value, "utf-8") {
			return "", false
		}
	}
	return media, true
}
