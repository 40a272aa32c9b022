/*
 * data/git.h - libgit2, loaded when an archive is first opened. Only history.c includes this, and
 * nothing else includes git2.h.
 *
 * libgit2 brings fifteen libraries along, and most commands never open an archive.
 */
#pragma once

#include "base/err.h"

#include <git2.h>

/* The functions, found at run time: `odb_read` is git_odb_read(). */
#define MR_GIT_FUNCTIONS(X)                                                                        \
	X(commit_author)                                                                           \
	X(commit_body)                                                                             \
	X(commit_free)                                                                             \
	X(commit_id)                                                                               \
	X(commit_lookup)                                                                           \
	X(commit_message)                                                                          \
	X(commit_parent)                                                                           \
	X(commit_parent_id)                                                                        \
	X(commit_parentcount)                                                                      \
	X(commit_summary)                                                                          \
	X(commit_time)                                                                             \
	X(commit_tree)                                                                             \
	X(commit_tree_id)                                                                          \
	X(diff_free)                                                                               \
	X(diff_get_delta)                                                                          \
	X(diff_num_deltas)                                                                         \
	X(diff_tree_to_tree)                                                                       \
	X(error_last)                                                                              \
	X(index_clear)                                                                             \
	X(index_free)                                                                              \
	X(index_open)                                                                              \
	X(index_read_tree)                                                                         \
	X(index_write)                                                                             \
	X(libgit2_init)                                                                            \
	X(libgit2_opts)                                                                            \
	X(message_trailer_array_free)                                                              \
	X(message_trailers)                                                                        \
	X(odb_exists_prefix)                                                                       \
	X(odb_foreach)                                                                             \
	X(odb_free)                                                                                \
	X(odb_hash)                                                                                \
	X(odb_object_data)                                                                         \
	X(odb_object_free)                                                                         \
	X(odb_object_size)                                                                         \
	X(odb_object_type)                                                                         \
	X(odb_read)                                                                                \
	X(odb_read_header)                                                                         \
	X(oid_equal)                                                                               \
	X(oid_fromstr)                                                                             \
	X(oid_fromstrn)                                                                            \
	X(oid_tostr)                                                                               \
	X(patch_free)                                                                              \
	X(patch_from_buffers)                                                                      \
	X(patch_get_hunk)                                                                          \
	X(patch_get_line_in_hunk)                                                                  \
	X(patch_num_hunks)                                                                         \
	X(reference_name_to_id)                                                                    \
	X(repository_free)                                                                         \
	X(repository_init_ext)                                                                     \
	X(repository_is_bare)                                                                      \
	X(repository_odb)                                                                          \
	X(repository_open_ext)                                                                     \
	X(tree_entry_byindex)                                                                      \
	X(tree_entry_bypath)                                                                       \
	X(tree_entry_cmp)                                                                          \
	X(tree_entry_free)                                                                         \
	X(tree_entry_id)                                                                           \
	X(tree_entry_name)                                                                         \
	X(tree_entry_type)                                                                         \
	X(tree_entrycount)                                                                         \
	X(tree_free)                                                                               \
	X(tree_lookup)                                                                             \
	X(tree_walk)

struct mr_git {
#define MR_GIT_MEMBER(name) __typeof__ (&git_##name)(name);
	MR_GIT_FUNCTIONS(MR_GIT_MEMBER)
#undef MR_GIT_MEMBER
};

/* MR_ENOTFOUND when the library is not installed. */
MR_CHECK enum mr_code mr_git_load(struct mr_git *out, struct mr_err *err);
