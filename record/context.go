// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

// EventContextUsed is the event type of a context record.
const EventContextUsed = "context.used"

// Context is the body of a context_record: what went into one call of a model
// (requirements G1 to G4, contract 12). It holds identifiers and a digest, never
// what the model saw.
type Context struct {
	Header    `json:",inline"`
	ContextID string `json:"context_id"`
	Model     Model  `json:"model"`
	// Plan is the kind of job that the context was cut for, and its version.
	Plan    *Plan   `json:"plan,omitzero"`
	Rights  *Rights `json:"rights,omitzero"`
	Purpose string  `json:"purpose,omitzero"`
	// Objects are the ids of those that the job is about.
	Objects []string       `json:"objects,omitzero"`
	Entries []ContextEntry `json:"entries"`
	// ContextDigest is that of the form that ContextForm names; "" if the input of the
	// model was not captured, as Capture then says.
	ContextDigest           string `json:"context_digest,omitzero"`
	ContextCanonicalization string `json:"context_canonicalization,omitzero"`
	// ContextSize is in bytes, rounded up to a multiple of 64 if the digest is
	// keyed; 0 is absent.
	ContextSize        int64           `json:"context_size,omitzero"`
	ContextForm        ContextForm     `json:"context_form,omitzero"`
	Selection          *Selection      `json:"selection,omitzero"`
	ToolCallsRequested []RequestedCall `json:"tool_calls_requested"`
	Claims             []Claim         `json:"claims,omitzero"`
	// Capture says what telemetry told; nil if an application gave the record.
	Capture *ContextCapture `json:"capture,omitzero"`
	// Basis says for a member where its value came from, as that of a Read does.
	Basis map[string]Basis `json:"basis,omitzero"`
}

// ContextCapture says what was captured of the input and the output of a model.
type ContextCapture struct {
	Input  Captured `json:"input"`
	Output Captured `json:"output"`
}

// Model names the model that was called.
type Model struct {
	Provider string `json:"provider,omitzero"`
	// Request and Response are the model's name as asked for and as answered.
	Request  string `json:"request,omitzero"`
	Response string `json:"response,omitzero"`
}

// Plan is a versioned rule for what goes into a context.
type Plan struct {
	Kind    string `json:"kind"`
	Version string `json:"version"`
}

// Rights are what the job ran under: the person's, cut with the role's.
type Rights struct {
	// PersonRef is a reference or pseudonym of the person.
	PersonRef string `json:"person_ref"`
	AgentRole string `json:"agent_role"`
}

// ContextForm says what the digest of a context was made of.
type ContextForm string

// The forms of contract 12.
const (
	// FormEntries: the JCS array of the entries with their values.
	FormEntries ContextForm = "entries"
	// FormMessages: the JCS of the model's input as it was sent.
	FormMessages ContextForm = "messages"
)

// ContextEntry is one property of one object that the model was given.
type ContextEntry struct {
	EntryID    string `json:"entry_id"`
	ObjectID   string `json:"object_id"`
	ObjectType string `json:"object_type"`
	Property   string `json:"property"`
	Side       Side   `json:"side"`
	Origin     Origin `json:"origin"`
	// ValidTime and RecordTime are the two times of the source's fact: when it
	// holds, and when it was recorded.
	ValidTime       Time   `json:"valid_time,omitzero"`
	RecordTime      Time   `json:"record_time,omitzero"`
	OntologyVersion string `json:"ontology_version,omitzero"`
	// DerivedFrom are the ids of entries that this one replaces (requirement G4).
	DerivedFrom []string `json:"derived_from,omitzero"`
	// Pseudonym says that ObjectID stands for a person whose name the model was not
	// given.
	Pseudonym bool `json:"pseudonym,omitzero"`
	// ValueDigest is keyed, because values of properties can be guessed.
	ValueDigest           string `json:"value_digest,omitzero"`
	ValueCanonicalization string `json:"value_canonicalization,omitzero"`
	// ValueSize is in bytes, rounded up to a multiple of 64; 0 is absent.
	ValueSize int64 `json:"value_size,omitzero"`
}

// Side says whether an entry instructs the model or is data to it.
type Side string

// The sides of contract 12.
const (
	SideInstruction Side = "instruction"
	SideData        Side = "data"
)

// Origin is where an entry was taken from.
type Origin struct {
	Source string `json:"source"`
	// Line counts from 1; 0 is absent.
	Line int64 `json:"line,omitzero"`
}

// Selection says how a context was cut to its size.
type Selection struct {
	// Ranking names the fixed ranking by which entries were kept.
	Ranking string `json:"ranking,omitzero"`
	// LeftOut is how many entries were left out, and all that is told of them; 0
	// is a number, nil is not known.
	LeftOut *int64 `json:"left_out,omitzero"`
}

// RequestedCall is a call of a tool that the model asked for.
type RequestedCall struct {
	ID     string `json:"id,omitzero"`
	ToolID string `json:"tool_id"`
}

// Claim is a statement of fact, by its id, and the entries that it cites.
type Claim struct {
	ClaimID  string   `json:"claim_id"`
	EntryIDs []string `json:"entry_ids"`
	// Supported says that the claim cites an entry and that all that it cites were
	// in a context of its execution (requirement G3). Intake decides it; a client
	// never gives it.
	Supported bool `json:"supported"`
}
