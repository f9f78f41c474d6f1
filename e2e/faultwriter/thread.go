// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"syscall"

	"github.com/readtrail/readtrail/internal/durable"
)

// thread does what it is told on one thread of the operating system, so that the
// n-th system call of the journal is the n-th of a thread, which is how strace
// counts.
type thread chan func()

// oneThread is a file system that calls the operating system from one thread.
type oneThread struct {
	durable.OS
	thread
}

func onOneThread() oneThread {
	t := make(thread)
	go func() {
		runtime.LockOSThread()
		for do := range t {
			do()
		}
	}()
	return oneThread{thread: t}
}

// on has a call made by the thread, and both one with two results.
func on[A any](t thread, call func() A) (a A) {
	done := make(chan struct{})
	t <- func() { a = call(); close(done) }
	<-done
	return a
}

func both[A any](t thread, call func() (A, error)) (a A, err error) {
	err = on(t, func() (err error) { a, err = call(); return err })
	return a, err
}

func (f oneThread) MkdirAll(dir string) error {
	return on(f.thread, func() error { return f.OS.MkdirAll(dir) })
}

func (f oneThread) Create(path string) (durable.File, error) {
	file, err := both(f.thread, func() (durable.File, error) { return f.OS.Create(path) })
	return threadFile{file, f.thread}, err
}

func (f oneThread) OpenFile(path string) (durable.File, error) {
	file, err := both(f.thread, func() (durable.File, error) { return f.OS.OpenFile(path) })
	return threadFile{file, f.thread}, err
}

func (f oneThread) Open(path string) (durable.Reader, error) {
	r, err := both(f.thread, func() (durable.Reader, error) { return f.OS.Open(path) })
	return threadReader{r, f.thread}, err
}

func (f oneThread) Rename(from, to string) error {
	return on(f.thread, func() error { return f.OS.Rename(from, to) })
}

func (f oneThread) Unlink(path string) error {
	return on(f.thread, func() error { return f.OS.Unlink(path) })
}

func (f oneThread) List(dir string) ([]durable.Info, error) {
	return both(f.thread, func() ([]durable.Info, error) { return f.OS.List(dir) })
}

func (f oneThread) SyncDir(dir string) error {
	return on(f.thread, func() error { return f.OS.SyncDir(dir) })
}

func (f oneThread) Lock(dir string) (durable.Lock, error) {
	l, err := both(f.thread, func() (durable.Lock, error) { return f.OS.Lock(dir) })
	if err != nil {
		return nil, err
	}
	return releasedLock{l}, nil
}

// releasedLock is released whatever closing it says, as Linux has it (close(2)): strace
// has the call fail without making it, on whichever thread it is the n-th.
type releasedLock struct{ durable.Lock }

func (l releasedLock) Close() error {
	descriptor := l.Lock.(interface{ Fd() uintptr }).Fd()
	err := l.Lock.Close()
	if err != nil {
		_ = syscall.Close(int(descriptor))
	}
	return err
}

type threadReader struct {
	durable.Reader
	thread
}

func (r threadReader) ReadAt(b []byte, at int64) (int, error) {
	return both(r.thread, func() (int, error) { return r.Reader.ReadAt(b, at) })
}

func (r threadReader) Close() error { return on(r.thread, r.Reader.Close) }

type threadFile struct {
	durable.File
	thread
}

func (f threadFile) ReadAt(b []byte, at int64) (int, error) {
	return both(f.thread, func() (int, error) { return f.File.ReadAt(b, at) })
}

func (f threadFile) WriteAt(b []byte, at int64) (int, error) {
	return both(f.thread, func() (int, error) { return f.File.WriteAt(b, at) })
}

func (f threadFile) Truncate(size int64) error {
	return on(f.thread, func() error { return f.File.Truncate(size) })
}

func (f threadFile) Check(size int64) error {
	return on(f.thread, func() error { return f.File.Check(size) })
}

func (f threadFile) Sync() error  { return on(f.thread, f.File.Sync) }
func (f threadFile) Close() error { return on(f.thread, f.File.Close) }
