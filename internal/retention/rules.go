// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package retention

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/readtrail/readtrail/internal/durable"
)

// MaxDays is the longest time that a rule can keep entries for: a hundred years.
const MaxDays = 36_500

// maxRules bounds what is read of a file of rules.
const maxRules = 10_000

// Rules say for how many whole days of 24 hours the entries of each retention
// class are kept.
type Rules map[string]int64

// Add adds a rule spelled CLASS=DAYS. The class is everything before the last
// "=": a class may contain one. A class has one rule.
func (r Rules) Add(rule string) error {
	at := strings.LastIndexByte(rule, '=')
	if at <= 0 {
		return errors.New("is not CLASS=DAYS, such as kyc=3650")
	}
	class, days := rule[:at], rule[at+1:]
	if err := durable.CheckName(class, durable.MaxName); err != nil {
		return fmt.Errorf("names a class that %w", err)
	}
	n, err := strconv.ParseInt(days, 10, 64)
	if err != nil || n < 0 || n > MaxDays || strconv.FormatInt(n, 10) != days {
		return fmt.Errorf("does not end with a number of whole days from 0 to %d", MaxDays)
	}
	if _, twice := r[class]; twice {
		return errors.New("is the second rule of its class; keep one")
	}
	r[class] = n
	return nil
}

// ParseRules reads a file of rules: CLASS=DAYS a line, spaces around it allowed,
// empty lines and those that begin with "#" left out. Errors name the line and
// nothing of its content.
func ParseRules(text []byte) (Rules, error) {
	rules := Rules{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	number := 0
	for lines.Scan() {
		number++
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if len(rules) == maxRules {
			return nil, fmt.Errorf("line %d: more than %d rules", number, maxRules)
		}
		if err := rules.Add(line); err != nil {
			return nil, fmt.Errorf("line %d %w", number, err)
		}
	}
	if lines.Err() != nil {
		return nil, fmt.Errorf("line %d is too long", number+1)
	}
	if len(rules) == 0 {
		return nil, errors.New("has no rule: write CLASS=DAYS, such as kyc=3650")
	}
	return rules, nil
}
