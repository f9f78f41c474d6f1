// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/telemetry"
	"github.com/readtrail/readtrail/record"
)

// chunk is what the tables of this file say of a chunk: its text is digested.
type chunk struct{ id, score, text string }

func chunksWant(chunks ...chunk) []record.Chunk {
	out := []record.Chunk{}
	for _, c := range chunks {
		r := record.Chunk{ID: c.id, Score: c.score}
		if c.text != "" {
			d := content.Plain.OfString(c.text)
			r.ContentDigest, r.ContentCanonicalization, r.ContentSize = d.Value, string(d.Form), d.Size
		}
		out = append(out, r)
	}
	return out
}

// storeAnswers are what stores and libraries return to the tool that asked.
var storeAnswers = map[string]struct {
	answer string
	want   []chunk
}{
	"Chroma, one query": {
		`{"ids":[["c1","c2"]],"embeddings":null,"documents":[["first","second"]],"uris":null,"data":null,"included":["distances"],"metadatas":[[{"source":"a.pdf"},null]],"distances":[[0.1,0.2]]}`,
		[]chunk{{"c1", "", "first"}, {"c2", "", "second"}},
	},
	"Chroma, two queries": {
		`{"ids":[["c1"],["c2","c3"]],"documents":[["first"],["second",null]],"distances":[[0.1],[0.2,0.3]]}`,
		[]chunk{{"c1", "", "first"}, {"c2", "", "second"}, {"c3", "", ""}},
	},
	"Chroma, get": {
		`{"ids":["c1","c2"],"documents":["first","second"],"metadatas":[{"chunk_id":"no"},{}]}`,
		[]chunk{{"c1", "", "first"}, {"c2", "", "second"}},
	},
	"Chroma without texts": {
		`{"ids":[["c1"]],"documents":null,"metadatas":[[{"a":1}]],"distances":[[0.1]]}`,
		[]chunk{{"c1", "", ""}},
	},
	"Pinecone": {
		`{"matches":[{"id":"c1","score":0.87,"values":[],"metadata":{"text":"first","score":"720","id":"cust_1"}},{"id":"c2","score":0.5}],"namespace":"ns","usage":{"readUnits":6}}`,
		[]chunk{{"c1", "0.87", "first"}, {"c2", "0.5", ""}},
	},
	"Pinecone, records": {
		`{"result":{"hits":[{"_id":"c1","_score":0.87,"fields":{"chunk_text":"first","category":"x"}}]},"usage":{"read_units":6}}`,
		[]chunk{{"c1", "0.87", "first"}},
	},
	"Weaviate, GraphQL": {
		`{"data":{"Get":{"Policy":[{"text":"first","_additional":{"id":"36ddd591-2dee-4e7e-a3cc-eb86d30a4303","distance":0.1,"certainty":0.9,"score":"0.75"}}]}}}`,
		[]chunk{{"36ddd591-2dee-4e7e-a3cc-eb86d30a4303", "0.75", "first"}},
	},
	"Weaviate, objects": {
		`{"objects":[{"uuid":"36ddd591-2dee-4e7e-a3cc-eb86d30a4303","metadata":{"distance":0.1,"score":0.5},"properties":{"text":"first","score":720},"vector":{},"collection":"Policy"}]}`,
		[]chunk{{"36ddd591-2dee-4e7e-a3cc-eb86d30a4303", "0.5", "first"}},
	},
	"Qdrant, search": {
		`{"result":[{"id":42,"version":3,"score":0.9,"payload":{"page_content":"first","metadata":{"score":1},"score":7},"vector":null}],"status":"ok","time":0.001}`,
		[]chunk{{"42", "0.9", "first"}},
	},
	"Qdrant, query": {
		`{"result":{"points":[{"id":"5c56c793-69f3-4fbf-87e6-c4bf54c28c26","version":3,"score":0.9,"payload":{"document":"first"}}]},"status":"ok"}`,
		[]chunk{{"5c56c793-69f3-4fbf-87e6-c4bf54c28c26", "0.9", "first"}},
	},
	"Qdrant with fields of somebody's choosing": {
		`{"points":[{"id":1,"score":0.9,"payload":{"city":"Berlin","rank":2}}]}`,
		[]chunk{{"1", "0.9", `{"city":"Berlin","rank":2}`}},
	},
	"Milvus": {
		`{"data":[[{"id":450000000000000001,"distance":0.9,"entity":{"text":"first"}}],[{"id":2,"distance":0.8,"entity":{"text":"second"}}]]}`,
		[]chunk{{"450000000000000001", "", "first"}, {"2", "", "second"}},
	},
	"Milvus, REST": {
		`{"code":0,"cost":0,"data":[{"distance":0.9,"id":9007199254740993,"text":"first"}]}`,
		[]chunk{{"9007199254740993", "", "first"}},
	},
	"Elasticsearch": {
		`{"took":5,"timed_out":false,"hits":{"total":{"value":1,"relation":"eq"},"max_score":1.3862942,"hits":[` +
			`{"_index":"policies","_id":"c1","_score":1.3862942,"_source":{"content":"first","id":"user_id","score":720}},` +
			`{"_index":"policies","_id":"c2","_score":null,"_source":{"title":"T"}}]}}`,
		[]chunk{{"c1", "1.3862942", "first"}, {"c2", "", `{"title":"T"}`}},
	},
	"Azure AI Search": {
		`{"@odata.context":"https://x","@search.nextPageParameters":null,"value":[{"@search.score":0.03,"@search.rerankerScore":2.1,"chunk_id":"c1","parent_id":"p1","chunk":"first","title":"a.pdf"}]}`,
		[]chunk{{"c1", "0.03", "first"}},
	},
	"Amazon Bedrock": {
		`{"nextToken":null,"retrievalResults":[{"content":{"text":"first","type":"TEXT"},"location":{"type":"S3","s3Location":{"uri":"s3://b/a.pdf"}},` +
			`"metadata":{"x-amz-bedrock-kb-chunk-id":"1:0:c1","x-amz-bedrock-kb-source-uri":"s3://b/a.pdf"},"score":0.71}]}`,
		[]chunk{{"1:0:c1", "0.71", "first"}},
	},
	"OpenAI file search": {
		`{"id":"fs_1","type":"file_search_call","queries":["q"],"results":[{"file_id":"file-1","filename":"a.pdf","score":0.95,"attributes":{},"text":"first"}]}`,
		[]chunk{{"file-1", "0.95", "first"}},
	},
	"OpenAI vector store": {
		`{"object":"vector_store.search_results.page","search_query":["q"],"data":[{"file_id":"file-1","filename":"a.pdf","score":0.95,"attributes":{},"content":[{"type":"text","text":"first"}]},` +
			`{"file_id":"file-2","score":0.5,"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}],"has_more":false}`,
		[]chunk{{"file-1", "0.95", "first"}, {"file-2", "0.5", `[{"text":"a","type":"text"},{"text":"b","type":"text"}]`}},
	},
	"LangChain": {
		`[{"id":"c1","metadata":{"source":"a.pdf","id":"cust_1","page":3},"page_content":"first","type":"Document"},{"page_content":"second","metadata":{"relevance_score":0.9,"chunk_id":"c2"}}]`,
		[]chunk{{"c1", "", "first"}, {"c2", "0.9", "second"}},
	},
	"LangChain with what may be a distance": {
		`[[{"page_content":"first","metadata":{}},0.25],[{"page_content":"second","metadata":{}},0.5]]`,
		[]chunk{{"", "", "first"}, {"", "", "second"}},
	},
	"LangChain, a question and its sources": {
		`{"query":"q","result":"an answer","source_documents":[{"page_content":"first","metadata":{}}]}`,
		[]chunk{{"", "", "first"}},
	},
	"LlamaIndex": {
		`{"response":"an answer","source_nodes":[{"node":{"id_":"c1","metadata":{"score":1},"text":"first","class_name":"TextNode"},"score":0.8}]}`,
		[]chunk{{"c1", "0.8", "first"}},
	},
	"Haystack": {
		`{"documents":[{"id":"c1","content":"first","blob":null,"meta":{"score":1},"score":0.8,"embedding":null}]}`,
		[]chunk{{"c1", "0.8", "first"}},
	},
	"Dify":   {`[{"document":{"content":"first","metadata":{"score":1},"score":0.8,"id":"c1"}}]`, []chunk{{"c1", "0.8", "first"}}},
	"Cohere": {`{"id":"r","results":[{"index":0,"relevance_score":0.99,"document":{"text":"first"}}]}`, []chunk{{"", "0.99", "first"}}},
	"Vertex AI": {
		`{"contexts":{"contexts":[{"sourceUri":"gs://b/a.pdf","text":"first","distance":0.3,"score":0.7}]}}`,
		[]chunk{{"", "0.7", "first"}},
	},
	"Mem0":            {`{"results":[{"id":"m1","memory":"first","score":0.5,"created_at":"2026-01-02T03:04:05Z","user_id":"u"}]}`, []chunk{{"m1", "0.5", "first"}}},
	"LangGraph":       {`[{"namespace":["u"],"key":"m1","value":{"a":1},"created_at":"2026-01-02T03:04:05Z"}]`, []chunk{{"m1", "", `{"a":1}`}}},
	"numbers as text": {`[{"id":"7","score":"0.50","content":"first"}]`, []chunk{{"7", "0.5", "first"}}},
	"texts":           {`["first","second"]`, []chunk{{"", "", "first"}, {"", "", "second"}}},
	"arrays of JSON":  {`["{\"id\":\"c1\",\"text\":\"first\"}"]`, []chunk{{"c1", "", "first"}}},
}

func TestTheAnswersOfStoresAreTakenApart(t *testing.T) {
	for name, c := range storeAnswers {
		t.Run(name, func(t *testing.T) {
			want := chunksWant(c.want...)
			assert.Equal(t, want, chunksOf(t, c.answer).Retrieval.Chunks, "JSON")
			assert.Equal(t, want, chunksOf(t, fmt.Sprintf("%q", c.answer)).Retrieval.Chunks, "JSON in JSON")
			mcp := fmt.Sprintf(`{"content":[{"type":"text","text":%q}],"isError":false}`, c.answer)
			assert.Equal(t, want, chunksOf(t, mcp).Retrieval.Chunks, "the result of an MCP tool")
			structured := chunksOf(t, structuredJSON(t, c.answer))
			assert.Equal(t, want, structured.Retrieval.Chunks, "a structure")
			assert.Equal(t, record.BasisUnwrapped, structured.Basis["retrieval.chunks"])
		})
	}
}

// structuredJSON is a value as a library that captures structures sends it.
func structuredJSON(t *testing.T, text string) any {
	t.Helper()
	root, err := parseTree(valueOf(pcommon.NewValueStr(text)))
	assert.NoError(t, err)
	return rawNumbers(root)
}

func TestWhatCanNotBePairedIsNotGuessed(t *testing.T) {
	for answer, want := range map[string][]chunk{
		// A list is longer than the other: the texts stand alone.
		`{"ids":["c1","c2"],"documents":["first"]}`:                                  {{"", "", "first"}},
		`{"ids":[["c1"]],"documents":[["first","second"]]}`:                          {{"", "", "first"}, {"", "", "second"}},
		`{"ids":["c1"],"name":"no answer of a store"}`:                               nil,
		`{"data":[{"distance":0.5,"similarity_of":"no score"}]}`:                     {{"", "", ""}},
		`[{'id': 'c1', 'page_content': 'first'}]`:                                    nil,
		`Document(metadata={}, page_content='first')`:                                nil,
		`data: ["['id: 1, distance: 0.1, entity: {}']"]`:                             nil,
		`{"content":[{"type":"text","text":"no documents"}]}`:                        nil,
		`{"error":"index not found"}`:                                                nil,
		`[{"metadata":{"id":"cust_1","source":"a.pdf","score":720,"distance":0.5}}]`: {{"", "", ""}},
	} {
		r := chunksOf(t, answer)
		assert.Equal(t, chunksWant(want...), r.Retrieval.Chunks, answer)
		assert.Equal(t, want != nil, r.Basis["retrieval.chunks"] != "", answer)
	}
}

func TestWrappersAndListsOfListsAreBounded(t *testing.T) {
	deep := strings.Repeat(`{"result":`, 200) + `[]` + strings.Repeat(`}`, 200)
	assert.Empty(t, chunksOf(t, deep).Basis["retrieval.chunks"])
	many := "[" + strings.Repeat("["+strings.Repeat(`"x",`, 5000)+`"x"],`, 100) + `["x"]]`
	assert.Equal(t, maxDocuments+1, min(maxDocuments+1, len(documentsOf(valueOf(pcommon.NewValueStr(many))).list)))
	columns := `{"ids":[` + strings.Repeat(`["x"],`, 20_000) + `["x"]],"documents":null}`
	documentsOf(valueOf(pcommon.NewValueStr(columns)))
}

// FuzzDocuments holds that whatever a tool answers is taken apart in time and
// within bounds.
func FuzzDocuments(f *testing.F) {
	for _, c := range storeAnswers {
		f.Add(c.answer)
	}
	f.Add(`{"ids":[" "],"metadatas":[{}]}`) // no identifier
	it := &item{cache: &telemetry.Cache{}}
	f.Fuzz(func(t *testing.T, s string) {
		for _, d := range documentsOf(valueOf(pcommon.NewValueStr(s))).list {
			if id := it.idOrDigest(d.id); id != "" && identifier(id) == "" {
				t.Errorf("%q is neither an identifier nor a digest", id)
			}
		}
	})
}
