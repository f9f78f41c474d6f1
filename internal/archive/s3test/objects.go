// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package s3test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

func answer(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/xml")
	fmt.Fprint(w, xml.Header+body)
}

func fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "%s<Error><Code>%s</Code><Message>line\none</Message></Error>", xml.Header, code)
}

// list is ListObjectVersions: by key, the newest version first. A marker is
// "<key> <versions already given>".
func (s *Server) list(w http.ResponseWriter, query url.Values) {
	var keys []string
	for key := range s.objects {
		if strings.HasPrefix(key, query.Get("prefix")) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	limit := s.PageSize
	if n, err := strconv.Atoi(query.Get("max-keys")); err == nil {
		limit = min(limit, n)
	}
	given, _ := strconv.Atoi(query.Get("version-id-marker"))
	var out strings.Builder
	for _, key := range keys {
		after := strings.Compare(key, query.Get("key-marker"))
		if after < 0 || after == 0 && given == 0 {
			continue
		}
		versions := s.objects[key]
		for i := len(versions) - 1; i >= 0; i-- {
			if after == 0 && len(versions)-i <= given {
				continue
			}
			if limit == 0 {
				// What is given of this key: those above i.
				before := len(versions) - i - 1
				if before == 0 {
					previous := keys[slices.Index(keys, key)-1]
					fmt.Fprintf(&out, "<IsTruncated>true</IsTruncated><NextKeyMarker>%s</NextKeyMarker>", html.EscapeString(previous))
				} else {
					fmt.Fprintf(&out, "<IsTruncated>true</IsTruncated><NextKeyMarker>%s</NextKeyMarker><NextVersionIdMarker>%d</NextVersionIdMarker>", html.EscapeString(key), before)
				}
				answer(w, "<ListVersionsResult>"+out.String()+"</ListVersionsResult>")
				return
			}
			limit--
			v := versions[i]
			name := "Version"
			if v.Marker {
				name = "DeleteMarker"
			}
			fmt.Fprintf(&out, "<%s><Key>%s</Key><VersionId>%s</VersionId><LastModified>%s</LastModified><Size>%d</Size></%[1]s>",
				name, html.EscapeString(key), v.ID, v.Stored.UTC().Format(time.RFC3339), len(v.Data))
		}
	}
	answer(w, "<ListVersionsResult><IsTruncated>false</IsTruncated>"+out.String()+"</ListVersionsResult>")
}

// put is PutObject.
func (s *Server) put(w http.ResponseWriter, r *http.Request, key string) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		fail(w, http.StatusBadRequest, "IncompleteBody")
		return
	}
	digest := sha256.Sum256(data)
	sum := base64.StdEncoding.EncodeToString(digest[:])
	versions := s.objects[key]
	switch {
	case r.Header.Get("If-None-Match") != "*":
		fail(w, http.StatusBadRequest, "NotCreateOnly")
		return
	case r.Header.Get("X-Amz-Checksum-Sha256") != sum:
		fail(w, http.StatusBadRequest, "BadDigest")
		return
	case len(versions) > 0 && !versions[len(versions)-1].Marker:
		fail(w, http.StatusPreconditionFailed, "PreconditionFailed")
		return
	}
	until, err := time.Parse(time.RFC3339, r.Header.Get("X-Amz-Object-Lock-Retain-Until-Date"))
	if err != nil || !until.After(s.Now()) {
		fail(w, http.StatusBadRequest, "InvalidArgument")
		return
	}
	v := &Version{Data: data, SHA256: sum, LegalHold: r.Header.Get("X-Amz-Object-Lock-Legal-Hold")}
	v.Mode, v.Until = s.retained(r.Header.Get("X-Amz-Object-Lock-Mode"), until)
	s.add(key, v)
	w.Header().Set("X-Amz-Version-Id", v.ID)
}

func (s *Server) retained(mode string, until time.Time) (string, time.Time) {
	if s.Retain != nil {
		return s.Retain(mode, until)
	}
	return mode, until
}

// version serves what is about one version.
func (s *Server) version(w http.ResponseWriter, r *http.Request, operation, key string) {
	i := slices.IndexFunc(s.objects[key], func(v *Version) bool { return v.ID == r.URL.Query().Get("versionId") })
	if i < 0 {
		fail(w, http.StatusNotFound, "NoSuchVersion")
		return
	}
	v := s.objects[key][i]
	switch operation {
	case "HeadObject":
		if !s.NoChecksums && r.Header.Get("X-Amz-Checksum-Mode") == "ENABLED" {
			w.Header().Set("X-Amz-Checksum-Sha256", v.SHA256)
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(v.Data)))
	case "GetObject":
		s.get(w, r, v)
	case "GetObjectRetention":
		if v.Mode == "" {
			fail(w, http.StatusNotFound, "NoSuchObjectLockConfiguration")
			return
		}
		answer(w, fmt.Sprintf("<Retention><Mode>%s</Mode><RetainUntilDate>%s</RetainUntilDate></Retention>", v.Mode, v.Until.UTC().Format(time.RFC3339)))
	case "PutObjectRetention":
		s.extend(w, r, v)
	case "GetObjectLegalHold":
		if v.LegalHold == "" {
			fail(w, http.StatusNotFound, "NoSuchObjectLockConfiguration")
			return
		}
		answer(w, "<LegalHold><Status>"+v.LegalHold+"</Status></LegalHold>")
	case "PutObjectLegalHold":
		v.LegalHold = "ON"
	}
}

func (s *Server) get(w http.ResponseWriter, r *http.Request, v *Version) {
	data := v.Data
	if from, ok := strings.CutPrefix(r.Header.Get("Range"), "bytes="); ok {
		start, err := strconv.Atoi(strings.TrimSuffix(from, "-"))
		if err != nil || start >= len(data) {
			fail(w, http.StatusRequestedRangeNotSatisfiable, "InvalidRange")
			return
		}
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start, len(data)-1, len(data)))
		data = data[start:]
		w.WriteHeader(http.StatusPartialContent)
	}
	if s.Cut > 0 && len(data) > s.Cut {
		_, _ = w.Write(data[:s.Cut])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = io.Copy(w, bytes.NewReader(data))
}

func (s *Server) extend(w http.ResponseWriter, r *http.Request, v *Version) {
	var asked struct {
		Mode            string
		RetainUntilDate time.Time
	}
	if err := xml.NewDecoder(r.Body).Decode(&asked); err != nil {
		fail(w, http.StatusBadRequest, "MalformedXML")
		return
	}
	if v.Mode != "" && asked.RetainUntilDate.Before(v.Until) || v.Mode == "COMPLIANCE" && asked.Mode != v.Mode {
		fail(w, http.StatusForbidden, "AccessDenied")
		return
	}
	v.Mode, v.Until = s.retained(asked.Mode, asked.RetainUntilDate)
}
