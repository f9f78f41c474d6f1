// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Command readtrail is the auditor's side of Readtrail: it makes signing keys,
// verifies and shows journals, recomputes digests of content, and gets back and
// checks the copies that were kept. To an operator it shows what the collector
// would do with telemetry, and for one it sets legal holds and prunes: only hold and
// retention apply write to a journal, through its collector if that runs.
package main

import (
	"context"
	"os"
)

// An interrupt ends the process at once, but for lint, which then prints its
// report, and for what has a journal open, which it closes: no command leaves
// anything half done that is not completed when it is run again.
func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
