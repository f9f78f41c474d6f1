// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package retention_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/retention"
)

func TestRulesAreReadFromAFile(t *testing.T) {
	rules, err := retention.ParseRules([]byte("# ten years\n kyc=3650 \n\na=b=7\r\ndefault=0\n"))
	require.NoError(t, err)
	require.Equal(t, retention.Rules{"kyc": 3650, "a=b": 7, "default": 0}, rules)
}

func TestARuleThatCouldMeanTwoThingsIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "has no rule",
		"kyc":                          "line 1 is not CLASS=DAYS",
		"=3":                           "line 1 is not CLASS=DAYS",
		"kyc=":                         "whole days",
		"kyc=-1":                       "whole days",
		"kyc=+1":                       "whole days",
		"kyc=01":                       "whole days",
		"kyc=1.5":                      "whole days",
		"kyc=10y":                      "whole days",
		"kyc=36501":                    "whole days",
		"kyc=99999999999999999999":     "whole days",
		"kyc=1\nkyc=2":                 "line 2 is the second rule",
		"k\x00=1":                      "not printable",
		strings.Repeat("k", 81) + "=1": "81 bytes",
		strings.Repeat("k", 1<<17):     "too long",
	} {
		_, err := retention.ParseRules([]byte(text))
		require.ErrorContains(t, err, want)
	}
}

func FuzzParseRules(f *testing.F) {
	f.Add([]byte("kyc=3650\n# x\na=b=1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		rules, err := retention.ParseRules(text)
		if err != nil {
			return
		}
		require.NotEmpty(t, rules)
		for _, days := range rules {
			require.LessOrEqual(t, days, int64(retention.MaxDays))
			require.GreaterOrEqual(t, days, int64(0))
		}
	})
}
