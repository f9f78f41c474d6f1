// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
)

// copies are what an evidence store is to keep of a read, each content once.
type copies struct {
	list []carrier.Copy
	// known are the digests of what is in the list.
	known map[string]struct{}
	// size is that of all contents together, in bytes.
	size int64
}

// add takes the bytes that a digest of a value covers. What has no digest (a
// placeholder, a credential, nothing) is not kept.
func (c *copies) add(v value, d content.Digest) {
	if d.Value == "" {
		return
	}
	if _, there := c.known[d.Value]; there {
		return
	}
	if c.known == nil {
		c.known = map[string]struct{}{}
	}
	c.known[d.Value] = struct{}{}
	preimage := v.preimage(d.Form)
	c.size += int64(len(preimage))
	c.list = append(c.list, carrier.Copy{Digest: d.Value, Content: preimage})
}

const (
	// maxFields bounds the values that are kept of one read one by one.
	maxFields = 1000
	// maxFieldsShare bounds their bytes, as a multiple of those of arguments and
	// result: paths may select a value and its parts, each of which is kept.
	maxFieldsShare = 8
)

// keepFields keeps what the rule's paths select from what was asked and
// answered. It fails if that is more than a read may keep.
func (l *lifting) keepFields(r *record.Read, c *contents) bool {
	limit := maxFieldsShare * (r.Request.ArgumentsSize + r.Response.ResultSize)
	for _, f := range l.rule.retention.fields {
		whole := r.Request.ArgumentsDigest
		if f.in == record.FieldInResult {
			whole = r.Response.ResultDigest
		}
		if whole == "" { // a part of what has none has none either
			continue
		}
		parts := f.located(c)
		if len(parts) > maxFields {
			return false
		}
		for _, v := range parts {
			d := l.digest(v)
			if !v.ok { // which is kept as it is spelled, so that it is not taken for absent
				v, d = null, l.cache.Key().OfRaw(null.raw)
			}
			if d.Value == "" {
				continue
			}
			l.copies.add(v, d)
			r.Retention.Fields = append(r.Retention.Fields, record.Field{
				Path: f.text, In: f.in, Digest: d.Value, Canonicalization: form(d), Size: d.Size,
			})
			if len(r.Retention.Fields) > maxFields || l.copies.size > limit {
				return false
			}
		}
	}
	return true
}

// retain says in the record what is kept, of which there may be nothing: then
// it says digest_only, whatever the rule wants. It fails if too much would be.
func (l *lifting) retain(r *record.Read, c *contents) bool {
	rule := &l.rule.retention
	r.Retention.ContentStored = record.DigestOnly
	r.Retention.Classification, r.Retention.AccessPolicyRef = rule.classification, rule.accessPolicyRef
	if rule.content == record.Fields && !l.keepFields(r, c) {
		return false
	}
	if len(l.copies.list) > 0 {
		r.Retention.ContentStored, r.Retention.CopyRef = rule.content, rule.store
	}
	return true
}
