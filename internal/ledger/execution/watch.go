// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package execution

import "slices"

// Watch is somebody who waits for entries of an execution.
type Watch struct {
	key  Key
	wake chan<- struct{}
}

// Watch has wake told, if it has room, whenever entries of an execution became
// durable, until Unwatch. Learn has returned by then or is about to.
func (x *Index) Watch(key Key, wake chan<- struct{}) *Watch {
	w := &Watch{key, wake}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.watches[key] = append(x.watches[key], w)
	return w
}

// Unwatch ends a watch.
func (x *Index) Unwatch(w *Watch) {
	x.mu.Lock()
	defer x.mu.Unlock()
	left := slices.DeleteFunc(x.watches[w.key], func(other *Watch) bool { return other == w })
	if len(left) == 0 {
		delete(x.watches, w.key)
	} else {
		x.watches[w.key] = left
	}
}

func (w *Watch) tell() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}
