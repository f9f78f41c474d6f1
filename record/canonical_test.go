// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"encoding/json/v2"
	"reflect"
	"testing"

	"github.com/gowebpki/jcs"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// fill sets everything in a value at random.
func fill(t *rapid.T, v reflect.Value) {
	switch v.Interface().(type) {
	case Time:
		v.Set(reflect.ValueOf(TimeFromUnixNano(rapid.Uint64Range(0, 1<<62).Draw(t, "time"))))
		return
	case map[string]Basis:
		path := rapid.StringMatching(`[a-z_]{1,8}(\.[a-z_]{1,8})?`)
		v.Set(reflect.ValueOf(rapid.MapOfN(path, rapid.Map(rapid.String(), func(s string) Basis { return Basis(s) }), 0, 5).Draw(t, "basis")))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(rapid.OneOf(rapid.Just(""), rapid.String()).Draw(t, "string"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64Range(0, 1<<53-1).Draw(t, "int"))
	case reflect.Uint64:
		v.SetUint(rapid.Uint64Range(0, 1<<53-1).Draw(t, "uint"))
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "present") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem())
		}
	case reflect.Slice:
		if n := rapid.IntRange(-1, 3).Draw(t, "length"); n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(t, v.Index(i))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	case reflect.Interface:
		details := []any{&Recovered{}, &Unrecordable{}, Recovered{Segment: "s", Offset: 7}, map[string]any{"b": []any{1.5, nil}, "a": "\n"}, nil}
		if detail := rapid.SampledFrom(details).Draw(t, "detail"); detail != nil {
			if p := reflect.ValueOf(detail); p.Kind() == reflect.Pointer {
				fill(t, p.Elem())
			}
			v.Set(reflect.ValueOf(detail))
		}
	default:
		t.Fatalf("a body has a member of type %s, which no test knows", v.Type())
	}
}

func TestABodyIsWhatTheLibraryMakesOfIt(t *testing.T) {
	for _, body := range []members{&Read{}, &Lineage{}, &Span{}, &Journal{}, &Action{}, &Approval{}} {
		typ := reflect.TypeOf(body).Elem()
		t.Run(typ.Name(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				value := reflect.New(typ)
				fill(t, value.Elem())
				plain, err := json.Marshal(value.Interface())
				require.NoError(t, err)
				want, err := jcs.Transform(plain)
				require.NoError(t, err)
				o, err := newObject(value.Interface().(members))
				require.NoError(t, err)
				require.Equal(t, string(want), string(o.raw))

				again, err := split(want)
				require.NoError(t, err)
				require.Equal(t, again, o)
				require.Equal(t, string(want), string(append((&Draft{body: o}).appendMembers([]byte{'{'}, 0, len(o.members)), '}')))
			})
		})
	}
}

func TestWhatIsNoTextIsRefused(t *testing.T) {
	read := exampleRead()
	read.ToolCallID = "\xff"
	_, err := NewReadDraft(read, true)
	require.Error(t, err)
	read = exampleRead()
	read.Basis["\xff"] = BasisRule
	_, err = NewReadDraft(read, true)
	require.Error(t, err)
}

func TestABodyThatEmbedsAnotherKeepsItsOwnMembers(t *testing.T) {
	wider := struct {
		Action `json:",inline"`
		Extra  string `json:"extra"`
	}{Action{ActionID: "act_1", State: ActionPlanned}, "x"}
	d, err := NewBodyDraft(KindAction, SchemaVersion, true, &wider)
	require.NoError(t, err)
	require.Contains(t, string(d.Body()), `"extra":"x"`)
	_, err = NewBodyDraft(KindAction, SchemaVersion, true, (*Action)(nil))
	require.Error(t, err)
}

func TestANumberThatNoEntryMayHoldIsRefused(t *testing.T) {
	for n, refused := range map[int64]bool{MaxInteger: false, MaxInteger + 1: true, -MaxInteger: false, -MaxInteger - 1: true} {
		_, err := newObject(&Action{Target: ActionTarget{Port: n}})
		require.Equal(t, refused, err != nil, n)
	}
}
