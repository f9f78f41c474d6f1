// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

// vectorSystems are databases that are searched by nearness. What is read from
// one is a retrieval.
var vectorSystems = []string{"chroma", "chromadb", "pinecone", "qdrant", "weaviate", "milvus", "lancedb", "marqo", "astra"}

// vectorReadOperations are the operations that read, as OpenLIT and OpenLLMetry
// name them.
var vectorReadOperations = []string{
	"query", "search", "get", "peek", "fetch", "select", "find", "scroll", "recommend", "discover", "hybrid_search",
	"fetch_objects", "fetch_object_by_id", "graphql_raw_query", "near_text", "near_vector", "hybrid", "bm25",
}

// vectorReadNames are span names of OpenLLMetry's instrumentations that write no
// operation, or that of a query builder which does not run it. The segments
// below a query of Chroma are parts of it.
var vectorReadNames = []string{
	"qdrant.search*", "qdrant.query*", "qdrant.recommend*", "qdrant.discover*", "qdrant.scroll", "qdrant.retrieve",
	"pinecone.query", "chroma.query", "chroma.get", "chroma.peek", "milvus.search", "milvus.query", "milvus.get", "milvus.hybrid_search",
	"lancedb.search", "marqo.search", "weaviate.query",
	"db.weaviate.gql.get.do", "db.weaviate.gql.filter.do", "db.weaviate.gql.aggregate.do", "db.weaviate.gql.query.get.do",
	"db.weaviate.gql.query.raw", "db.weaviate.client.graphql_raw_query", "db.weaviate.collections.query.*", "db.weaviate.data.crud_data.get",
}

// vectorBuilders are spans of parts of a query that do not run it, and of what
// reads how an index is made.
var vectorBuilders = named("db.weaviate.schema.*", "db.weaviate.gql.query.get", "db.weaviate.gql.query.aggregate", "db.weaviate.collections.get")

var vectorFields = otelCommon.plus(fields{
	query: attr("db.marqo.search.query", "db.vector.query.content", "db.query.text", "db.vector.query.embeddings.vector"),
	// What narrows a search down is asked too.
	arguments: first(
		attr("db.filter", "db.where_document", "db.vector.query.filter", "db.vector.query.metadata_filter", "pinecone.query.filter", "pinecone.query.queries", "pinecone.query.id",
			"db.chroma.query.where", "db.chroma.query.where_document", "db.chroma.get.where", "db.chroma.get.where_document",
			"db.milvus.search.filter", "db.milvus.query.filter", "db.milvus.search.annsearch_request"),
		gathered("db.weaviate.", ""),
	),
	topK: attr("db.vector.query.top_k", "pinecone.query.top_k", "db.chroma.query.n_results", "db.milvus.search.limit", "db.milvus.query.limit",
		"db.chroma.get.limit", "db.chroma.peek.limit"),
	indexID: attr("db.collection.name", "qdrant.search.collection_name", "qdrant.query.collection_name", "qdrant.search_batch.collection_name",
		"qdrant.scroll.collection_name", "qdrant.recommend.collection_name", "qdrant.discover.collection_name", "db.milvus.search.collection_name",
		"db.milvus.query.collection_name", "db.milvus.get.collection_name", "pinecone.query.namespace", "db.query.namespace",
		"db.vector.query.result.namespace"),
})

var vectorDocuments = []documentSource{
	matchEvents("db.query.result", "db.search.result"),
	matchAttributes("db.vector.query.result.", "pinecone.query.result."),
	documentsIn(attr("db.vector.query.response.documents")),
	counted("db.n_results", "db.response.returned_rows"),
}

// vectorReads are searches in vector databases, as OpenLLMetry and OpenLIT write
// them: one event or a few attributes for each match, or only their number.
func vectorReads() []row {
	system := either(isAnyCase("db.system", vectorSystems...), isAnyCase("db.system.name", vectorSystems...))
	reads := either(
		named(vectorReadNames...),
		isAnyCase("db.operation.name", vectorReadOperations...),
		isAnyCase("db.operation", vectorReadOperations...),
	)
	matched := either(
		carries("db.query.result", "db.search.result"),
		all(carries("db.query.embeddings", "db.search.embeddings"), scope("@traceloop/*")),
	)
	names := []string{
		"{db.operation.name} {db.collection.name}", "{db.operation.name} {db.query.namespace}", "{db.system}.{db.operation}", "{db.operation.name}",
	}
	return []row{
		{dialect: dialectOpenLIT, when: all(openLIT, system, reads), class: ClassRetrieval, fields: vectorFields, documents: vectorDocuments, names: names},
		{
			dialect: dialectTraceloop, when: all(either(all(system, reads), matched), not(vectorBuilders)),
			class: ClassRetrieval, fields: vectorFields, documents: vectorDocuments, names: names,
		},
	}
}
