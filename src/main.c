/*
 * mailroom - mail for AI agents, in plain files.
 *
 * The map of the tree. Calls go down this list; nothing below knows the name of anything above.
 *
 *   main.c             picks the table of operations, runs the command line, exits
 *
 *   surface/           how a request arrives and leaves
 *     cli/             the command line
 *       argv.c           a command line taken apart
 *       cli.c            from argv to an operation, and its result to the screen
 *       command.c        the tree of commands that the operation table implies
 *       commands.c       completion and help as operations
 *       completion.c     scripts for bash, zsh and fish
 *       follow.c         an inbox as it fills
 *       help.c           help for every level
 *       mcp_stdio.c      MCP for a client that starts it
 *       serve.c          the server in the foreground, until a signal ends it
 *       terminal.c       who reads the output, and asking a person
 *     http/            the HTTP server
 *       access.c         who asks, and what they may
 *       access_settings.c and what is configured about it
 *       admit.c          what the headers of a request decide
 *       api.c            the operation table as HTTP routes
 *       budget.c         one limit for the memory of all requests in flight
 *       cors.c           what pages of other origins are told
 *       deadlines.c      clients that take too long, or left
 *       discovery.c      what clients look up before they ask
 *       drain.c          how much is under way, until it is over
 *       forward.c        who asks behind a proxy
 *       host_check.c     hosts and origins that may ask
 *       jwks.c           the keys of whoever issues tokens
 *       listen.c         the socket
 *       media.c          media types in headers
 *       openapi.c        the routes as an OpenAPI document
 *       rate_limit.c     how often somebody may ask
 *       request.c        what a handler sees and fills
 *       route.c          from method and path to a handler
 *       server.c         requests within their limits, on libmicrohttpd
 *       server_config.c  what can be set about a server
 *       socket.c         the Unix socket, for the user who runs the server
 *       stream.c         responses that stay open
 *       tap.c            what a connection receives, seen before the HTTP library does
 *       wait.c           handlers that wait give their place to others
 *       wire.c           the bytes of requests, read strictly
 *       worker.c         threads for what may block
 *     mcp/             the Model Context Protocol
 *       answer.c         requests in, answers out, without a transport
 *       ask.c            what must be known from the client first
 *       claim.c          what a request of the second generation says of itself
 *       complete.c       what an argument that was begun may become
 *       endpoint.c       its path: GET, DELETE, and where POST goes
 *       era.c            which generation a message speaks
 *       events.c         the last events of a session's streams
 *       fixture_tools.c  tools of the conformance tests
 *       fixtures.c       their prompts and resources
 *       fixtures_off.c   none of them, in a build for users
 *       hub.c            who wants to know when a resource changes
 *       levels.c         log messages for clients
 *       listening.c      streams of changes, of the second generation
 *       long_call.c      requests that go on after their handler has returned
 *       mcp.c            what the server keeps, and its methods use of a request
 *       method.c         the methods
 *       post.c           what clients send
 *       progress.c       how far a tool is
 *       prompts.c        the prompts
 *       recent.c         the last calls of tools
 *       resource_team.c  results of the team's operations by their URIs
 *       resource_tooling.c the server itself by its own
 *       resources.c      what can be read by its URI
 *       roots.c          the directories a client works in
 *       rpc.c            JSON-RPC 2.0
 *       runner.c         threads for calls that wait
 *       session.c        clients between their requests
 *       session_ask.c    what they are asked
 *       session_stream.c what they are sent
 *       stdio.c          a message a line, requests at once
 *       stdio_ask.c      what the client is asked meanwhile
 *       stdio_job.c      the threads that answer
 *       stdio_listen.c   what it is told unasked
 *       tools.c          the operation table as tools
 *       uri.c            resource://... taken apart
 *       wanted.c         what a client wants to hear of
 *
 *   op/                what can be asked
 *     agent_auth.c       whether a caller may act as an agent
 *     args.c             from what was sent to typed arguments
 *     bind.c             requests and results by the tables that describe them
 *     contract.c         what differs between the contracts that share the table
 *     dispatch.c         decode, check needs, run, count, log
 *     grid.c             cells in columns that fit the terminal
 *     nouns.c            the list of all operations
 *     op.c               the table
 *     render.c           a result as people read it
 *     render_part.c      what the renderers share
 *     schema.c           JSON Schema from the table
 *     trace.c            operations as spans of somebody's trace
 *     mailbox/         the mailbox roots' operations
 *       mailbox_account.c operations: addresses of a mailbox root
 *       mailbox_mail.c   operations: its messages
 *       mailbox_payload.c the managed scripts' payloads
 *       mailbox_root.c   operations: the root as a whole
 *       mailbox_script.c operation: the managed scripts
 *       shape_mailbox.c  the mailbox contract's objects
 *     self/            operations on Mailroom itself
 *       config.c         operations: what is configured
 *       connect.c        operation: Mailroom entered into a client
 *       doctor.c         operation: is everything in order here?
 *       extended.c       operations: tools found and called by name
 *       health.c         operations: alive, ready, well
 *       operations.c     operations: the table itself, and its schemas
 *       render_self.c    settings and operations
 *     team/            the team's operations and what they show
 *       contract_team.c  the team's contract: who may act, what errors look like
 *       render_contact.c contacts, products, slots, macros
 *       render_guard.c   files that others hold, and how to ask
 *       render_lease.c   leases as people read them
 *       render_mail.c    messages as people read them
 *       render_search.c  what was found, what was summed up
 *       render_team.c    projects and agents as people read them
 *       shape_team.c     the team contract's: times, projects, agents
 *       shape_team_contact.c links, products, slots
 *       shape_team_lease.c and its leases
 *       shape_team_mail.c messages as clients read them
 *       shape_team_search.c what a search found
 *       shape_team_summary.c what conversations came to
 *       suggest.c        what an argument that was begun may become
 *       team_agent.c     operations: the agents of a project
 *       team_contact.c   operations: who may write to whom
 *       team_guard.c     git hooks that look at leases
 *       team_guard_check.c may these files be committed, pushed, edited?
 *       team_health.c    operation: is the team's storage well?
 *       team_home.c      the team's storage of this program
 *       team_inbox.c     operations: what an agent received and sent
 *       team_macro.c     operations: the usual calls as one
 *       team_mail.c      operations: send and reply
 *       team_ops.c       what the team's operations share
 *       team_product.c   operations: projects that belong together
 *       team_project.c   operations: the projects of a team
 *       team_reservation.c operations: leases on files
 *       team_root.c      operations: the storage as a whole
 *       team_search.c    operation: messages found by what they say
 *       team_share.c     operations: a copy of the mail for others
 *       team_slot.c      operations: build slots
 *       team_summary.c   operations: what conversations came to
 *       team_thread.c    operations: a message, a conversation
 *       team_wait.c      operation: waiting for mail
 *       view_mail.c      mail as it is shown by its name
 *       view_team.c      projects, agents and products by theirs
 *       watching.c       waiting for changes, for the surfaces
 *
 *   app/               what runs the program, and the files of other programs
 *     client.c           coding agents' programs, and what their files say of us
 *     client_file.c      other programs' settings, changed in one place
 *     client_record.c    what connect did to a file, kept for the way back
 *     client_toml.c      our table in a client's TOML file
 *     locations.c        where the program, a repository, the server are
 *     locations_socket.c the server's Unix socket, and whom it trusts over TCP
 *     metrics.c          counters and histograms, as Prometheus text
 *     settings.c         what is configured, and where it came from
 *     settings_table.c   everything that can be
 *
 *   team/              coding agents sharing a repository
 *     agent.c            members of a project: found, registered, edited
 *     agent_sql.c        and their rows
 *     ask.c              the questions asked from above
 *     attachment.c       files that go with a message
 *     attachment_body.c  pictures that a body names
 *     attachment_source.c which files may be read
 *     attachment_store.c where they are put
 *     contact.c          asking for contact, and answering
 *     contact_decide.c   may this agent write to that one?
 *     contact_sql.c      links between agents, and what a decision asks
 *     error.c            the contract's errors, with data
 *     escalate.c         acknowledgements that do not come
 *     escalate_sql.c     which ones, and what was done about them
 *     gauge.c            how much there is, and how much waits
 *     gauge_sql.c        the counting itself
 *     identity.c         what a project is named after: a path, or a repository
 *     inbox.c            what an agent has received, and what it did about it
 *     inbox_sql.c        lists of messages, each from an index
 *     inbox_wait.c       an inbox followed as it fills
 *     layout.c           the names of everything in a project's archive
 *     llm.c              asking a language model, where one is configured
 *     macro.c            the usual sequences of calls as one
 *     message.c          sending: decided and stored in one change
 *     message_cache.c    what messages read lately said, for the next who lists them
 *     message_recall.c   a key that was used before
 *     message_reply.c    answers
 *     message_sql.c      messages and recipients
 *     model.c            the contract's words
 *     name.c             an adjective and a noun
 *     open.c             the storage opened and closed, and what is told of its changes
 *     post.c             a message or a notice becomes rows
 *     probe.c            is the storage well?
 *     probe_sql.c        a look at every table that matters
 *     product.c          projects that belong together
 *     product_sql.c      products, and their mail in one order
 *     project.c          which project is meant
 *     project_sql.c      and its row
 *     purge.c            an agent taken out altogether, and out of the archive's files
 *     purge_sql.c        where it left traces
 *     recipient.c        whom a sender means
 *     retire.c           agents that go
 *     retire_sql.c       what they leave behind
 *     search.c           messages found by what they say
 *     search_query.c     what a person types into a search, taken apart
 *     search_sql.c       and what it asks of the database
 *     snippet.c          the lines of a message around what was looked for
 *     summary.c          what a conversation came to
 *     summary_lines.c    by its lines
 *     summary_llm.c      worded by a model
 *     thread_sql.c       conversations
 *     timers.c           what a server does now and then
 *     topic.c            what may change, for those who subscribe to it
 *     archive/         the git history and the way back from it
 *       archive.c        the archive: drained, and looked at
 *       archive_commit.c which commit brought a message into it
 *       archive_document.c a message as a file, a thread's digest
 *       archive_files.c  from rows to files
 *       archive_locks.c  who writes to it now
 *       archive_record.c its JSON files
 *       archive_repair.c files of archives that a power loss tore
 *       archive_round.c  rows of a project become a commit
 *       archive_source_sql.c what its files are made from
 *       archive_sql.c    what the archive does not show yet
 *       archiver.c       the thread that archives
 *       check.c          does the archive show what the database says?
 *       rebuild.c        a database from the archives, and the other way round
 *       rebuild_carry.c  what only the old database has, taken over and compared
 *       rebuild_carry_sql.c and its rows
 *       rebuild_hold.c   leases, slots and links, put back
 *       rebuild_origin.c which files of an archive count, and what they say
 *       rebuild_read.c   what archives say, put back
 *       rebuild_sql.c    rows as they were
 *       rebuild_tree.c   the files of an archive as its newest commit has them
 *     guard/           what git hooks ask
 *       guard.c          leases at the door: may these files be changed now?
 *       guard_archive.c  leases from the archive's files
 *       guard_database.c from the database
 *       guard_edit.c     what a coding agent's editor is about to write to
 *       guard_git.c      what a commit or a push would change
 *       guard_hook.c     git's hooks, put in place and taken away
 *       guard_server.c   leases from a server
 *     lease/           leases on files, build slots
 *       lease_index.c    leases that a pattern may meet, found quickly
 *       reservation.c    leases on files: asked for, given back, renewed
 *       reservation_force.c taken away
 *       reservation_guard.c and what they have to do with mail
 *       reservation_list.c as others see them; the broom that goes before
 *       reservation_sql.c leases in the database
 *       slot.c           build slots: one holder at a time
 *       slot_sql.c       their rows
 *       staleness.c      is anybody still working under a lease?
 *     share/           bundles for others to read
 *       share.c          a copy of the mail for others to read
 *       share_attach.c   its attachments
 *       share_files.c    its files: written, cut, listed
 *       share_manifest.c what it says about itself
 *       share_secret.c   secrets found, replaced, and proved gone
 *       share_sql.c      what is read for it, and its tables
 *       share_verify.c   a copy compared with its manifest
 *       share_view.c     its page's data
 *     store/           the database, its writer and readers, and who waits for changes
 *       changes_sql.c    what changed since one last looked
 *       database.c       the database while it is in use: looked after, opened anew
 *       pulse.c          can mail be kept, now?
 *       root.c           a team's storage, opened
 *       schema_sql.c     its tables
 *       wait.c           the one loop in which anything waits for a change
 *       watch.c          woken by the kernel when the database changes
 *
 *   mailbox/           agents' mailboxes in plain files
 *     cleanup.c          registrations that are over
 *     cleanup_sql.c      which messages a clear takes from the index
 *     clear.c            mail that is to go
 *     clear_plan.c       what that will be
 *     compose.c          a draft becomes a message
 *     compose_file.c     a file that goes with one
 *     deliver.c          a staged document becomes mail, for all or for none
 *     deliver_recover.c  intents: written before a delivery, read after a crash
 *     deliver_steps.c    its steps, forwards and back
 *     document.c         a message as bytes
 *     export.c           accounts as a directory of plain files
 *     export_account.c   what it says about each registration
 *     export_copy.c      files of the archive
 *     export_mail.c      its messages, projections, attachments
 *     export_manifest.c  manifest.json
 *     export_sql.c       what is read for it
 *     export_temporary.c where it is written before it has its name
 *     index_schema_sql.c the tables and indexes of index.sqlite
 *     index_sql.c        messages, recipients, projections in the index
 *     inside.c           does a stored path lie where it should?
 *     inspect.c          what the index says of accounts and messages
 *     layout.c           the names of everything below a root
 *     lock_all.c         the index and the locks of many registrations
 *     locks.c            the contract's locks, that no dead process keeps
 *     mail.c             one address's mail: listed, read, marked, moved
 *     mail_fs.c          in a root on this machine
 *     mail_send.c        and sent, posted, answered
 *     mail_sql.c         what a list asks for
 *     message.c          the canonical message
 *     message_field.c    its single fields
 *     message_read.c     and its rules: the strict reader
 *     notify.c           the sender's notice
 *     open.c             a root is opened, and what a crash left is finished or undone
 *     open_init.c        a root is made, or completed
 *     register.c         addresses join a root
 *     register_local.c   what is inside a mailbox directory
 *     register_swap.c    an entry of mailboxes/ exchanged for another, or not at all
 *     registration_sql.c registrations in the index
 *     repair.c           check and repair
 *     repair_accounts.c  repair: who has a mailbox
 *     repair_known.c     repair: message ids, small
 *     repair_links.c     repair: the links in a mailbox
 *     repair_local.c     repair: what owners have done is kept
 *     repair_mailbox.c   repair: one mailbox after the other
 *     repair_messages.c  repair: every document, and what the index has of it
 *     repair_sql.c       what they ask of the databases
 *     repair_staging.c   repair: quarantine, and what lies around
 *     repair_threads.c   repair: summaries of threads
 *     root.c             what a root says of itself, and its databases
 *     rules.c            rules/: policy and managed scripts
 *     state.c            what an owner does with mail
 *     state_move.c       and where they put it
 *     state_sql.c        mailbox.sqlite
 *     trash.c            what one operation removes
 *     unregister.c       addresses leave a root
 *
 *   net/               other machines
 *     http_client.c      one HTTP request, and its answer
 *     local_socket.c     a server of the same user, through a socket in the file system
 *     otlp.c             traces for a collector
 *
 *   data/              state on this machine
 *     db.c               the driver interface: connections, statements, transactions, search
 *     db_sqlite.c        SQLite behind it
 *     db_sqlite_search.c and its full-text search
 *     history.c          git repositories: reading, the branch, the log, the index
 *     history_append.c   opening, being the only writer, a batch step by step
 *     history_commit.c   a batch becomes trees, a commit, a pack
 *     history_object.c   git's objects as bytes: ids, trees, deltas
 *     history_pack.c     packs as files
 *     history_pack_file.c packs as bytes
 *     history_pack_merge.c many packs become one, in linear time
 *     history_repair.c   files of the work tree that a power loss tore
 *     history_text.c     paths and commit messages
 *     history_work.c     the work tree, and how far it is
 *     migrate.c          numbered migrations
 *     queue.c            the group-commit writer
 *     rows.c             a statement in one call: values bound, rows read
 *
 *   text/              bytes <-> values, no I/O
 *     address.c          name@domain
 *     digest.c           SHA-1 and SHA-256, MACs and signatures
 *     dotenv.c           .env files
 *     frontmatter.c      a head between --- lines, and the body
 *     glob.c             path patterns: match
 *     glob_expand.c      their text: normalised, braces written out
 *     glob_overlap.c     whether two of them can meet
 *     glob_parse.c       from text to sets of characters
 *     image.c            pictures: what they are, how large
 *     image_jpeg.c       JPEG to pixels
 *     image_png.c        PNG to pixels
 *     image_turn.c       which way is up
 *     image_webp.c       WebP to pixels, and back
 *     json.c             JSON in and out
 *     jwt.c              signed claims, checked
 *     markdown.c         a walk through Markdown, block by block
 *     markdown_fence.c   fenced blocks, by lines
 *     markdown_html.c    as HTML with only our tags
 *     markdown_text.c    as plain text
 *     out.c              where a handler puts its result
 *     time.c             RFC 3339 and durations
 *     token.c            ids, slugs, random names
 *     toml.c             TOML documents, taken apart into their statements
 *     value.c            the tree JSON and YAML are read into, and strict questions about it
 *     yaml.c             YAML in
 *     yaml_scalar.c      what a plain scalar means
 *     yaml_writer.c      YAML out
 *
 *   base/              the platform, no mail words
 *     arena.c            memory freed all at once
 *     boot.c             when the machine was started, by the clock that stamps files
 *     buf.c              bytes being built, with a maximum
 *     clock.c            time, passed in
 *     crash_off.c        the same points in a build for users: nothing
 *     crash_on.c         named points at which tests stop the program
 *     err.c              what went wrong, and what it means outside
 *     fs.c               files: atomic, bounded, kept inside
 *     fs_tree.c          directories and all that is below them
 *     fs_watch.c         waiting until a file is touched
 *     lock.c             one holder at a time, by the kernel
 *     log.c              JSON lines to one sink
 *     memory.c           how much memory this process may use
 *     oom.c              the line a process without memory ends with
 *     proc.c             other programs, without a shell
 *     rand.c             chance, passed in
 *     reach.c            which directories a caller may name
 *     str.c              small questions about text
 *     utf8.c             UTF-8
 */
#include "op/nouns.h"
#include "surface/cli/cli.h"
#include "surface/cli/commands.h"

#include <stdlib.h>
#include <unistd.h>

enum { TABLE_MAX = 256 };

int main(int argc, char **argv)
{
	const struct mr_op *ops[TABLE_MAX];
	struct mr_op_table table = { ops, 0 };

	ops[table.len++] = &mr_op_serve;
	ops[table.len++] = &mr_op_mcp;
	for (size_t i = 0; i < mr_nouns.len && table.len < TABLE_MAX - 3; i++)
		ops[table.len++] = mr_nouns.ops[i];
	ops[table.len++] = &mr_op_team_watch;
	ops[table.len++] = &mr_op_completion;
	ops[table.len++] = &mr_op_help;
	exit(mr_cli_run(&table, argc, (const char *const *)argv, (const char *const *)environ));
}
