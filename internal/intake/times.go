// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"strings"
	"time"

	"github.com/readtrail/readtrail/record"
)

var errTime = errors.New("time is not RFC 3339 with at most nine fractional digits")

// normalizedTimes decode times as clients may spell them.
var normalizedTimes = json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, t *record.Time) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	if token.Kind() != jsontext.KindString {
		return errTime
	}
	*t, err = parseTime(token.String())
	return err
}))

// parseTime reads RFC 3339 and keeps its value to the nanosecond: more digits are
// refused, not cut.
func parseTime(s string) (record.Time, error) {
	const longest = len("2006-01-02T15:04:05.000000000+00:00")
	if len(s) > longest {
		return record.Time{}, errTime
	}
	if _, fraction, found := strings.Cut(s, "."); found {
		if strings.IndexAny(fraction, "Z+-") > len("000000000") {
			return record.Time{}, errTime
		}
	}
	var t time.Time
	// Which is strict where time.Parse is not.
	if err := t.UnmarshalText([]byte(s)); err != nil {
		return record.Time{}, errTime
	}
	t = t.UTC()
	if t.IsZero() || t.Year() < 0 || t.Year() > 9999 {
		return record.Time{}, errTime
	}
	return record.NewTime(t), nil
}
