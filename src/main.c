/*
 * mailroom - mail for AI agents, in plain files.
 *
 * The map of the tree. Calls go down this list; nothing below knows the name of anything above.
 *
 *   main.c             picks the program by the name it was called, runs its command line, exits
 *
 *   surface/           how a request arrives and leaves
 *     cli/             the command line
 *       argv.c           a command line taken apart
 *       cli.c            from argv to an operation, and its result to the screen
 *       commands.c       completion, manual and help as operations
 *       completion.c     scripts for bash, zsh and fish
 *       demo.c           `demo`: a server in a directory that goes with it
 *       demo_desk.c      its workspace, with mail that waits
 *       demo_team.c      its five agents, who go on working
 *       follow.c         an inbox followed as messages arrive
 *       foreground.c     what servers in the foreground have in common
 *       gateway.c        an agent's gateway in the foreground, until a signal
 *       manual.c         manual pages in man(7)'s language
 *       mcp_stdio.c      MCP on stdin and stdout, for a client that starts it
 *       outcome.c        results, failures and events of a command, as its contract has them
 *       serve.c          the server in the foreground, until a signal ends it
 *       terminal.c       the terminal: width, colour, questions, progress
 *     http/            the HTTP server
 *       access.c         authentication, roles and rate limits of requests
 *       access_settings.c and their settings
 *       admit.c          accepts or refuses a request by its headers
 *       api.c            the operation table as HTTP routes
 *       budget.c         one limit for the memory of all requests in flight
 *       cookie.c         cookies of a request
 *       cors.c           CORS headers and preflight answers
 *       deadlines.c      slow clients are cut off, closed ones noticed
 *       discovery.c      OAuth metadata under /.well-known
 *       drain.c          counts requests in progress, waits for their end
 *       forward.c        the client's address behind a trusted proxy
 *       handed.c         sockets that systemd opened (LISTEN_FDS)
 *       host_check.c     checks Host, Origin and framing headers
 *       jwks.c           the token issuer's public keys, fetched and cached
 *       listen.c         the TCP socket
 *       media.c          media types in headers
 *       mhd.c            libmicrohttpd, loaded when a server starts
 *       openapi.c        the routes as an OpenAPI document
 *       rate_limit.c     token buckets per client
 *       request.c        what a handler sees and fills
 *       route.c          from method and path to a handler
 *       server.c         requests within their limits, on libmicrohttpd
 *       server_config.c  the server's configuration: defaults and checks
 *       sign_in.c        sessions of browsers that signed in
 *       socket.c         the Unix socket, for the user who runs the server
 *       stream.c         responses that stay open
 *       tap.c            gives wire.c the received bytes before the library
 *       wait.c           waiting handlers free their worker's place
 *       wire.c           the bytes of requests, read strictly
 *       worker.c         the thread pool for handlers that may block
 *     mcp/             the Model Context Protocol
 *       answer.c         runs a request's method and writes the response
 *       ask.c            questions to the client during a request
 *       claim.c          version and capabilities in a request's _meta
 *       complete.c       completion of arguments
 *       endpoint.c       its path: GET, DELETE, and where POST goes
 *       era.c            the protocol generation of an HTTP request
 *       events.c         the latest events of a session, for resuming
 *       fixture_tools.c  tools of the conformance tests
 *       fixtures.c       their prompts and resources, for the same tests
 *       fixtures_off.c   the same without fixtures, for users' builds
 *       hub.c            subscriptions to resources, and notifications
 *       levels.c         log messages for clients
 *       listening.c      subscriptions/listen over HTTP
 *       long_call.c      calls answered by a stream, on their own thread
 *       mcp.c            the server's state, and helpers for methods
 *       method.c         the methods
 *       post.c           POST: reads, checks and answers messages
 *       progress.c       progress notifications
 *       prompts.c        the prompts
 *       recent.c         the latest tool calls
 *       resource_team.c  resources that show results of team operations
 *       resource_tooling.c resources about the server itself
 *       resources.c      the table of resources, read and listed
 *       roots.c          the directories a client works in
 *       rpc.c            JSON-RPC 2.0
 *       runner.c         threads for calls that may wait
 *       session.c        clients between their requests
 *       session_ask.c    questions to a session's client
 *       session_relay.c  a stream of a session goes on at another server
 *       session_stream.c the streams of a session
 *       shared.c         sessions that other servers opened, and messages between servers
 *       stdio.c          a message a line, requests at once
 *       stdio_ask.c      questions to the client on stdio
 *       stdio_job.c      the threads that answer
 *       stdio_listen.c   notifications on stdio
 *       tools.c          the operation table as tools
 *       uri.c            resource://... taken apart
 *       wanted.c         subscriptions/listen without its transport
 *     web/             the pages at /mail
 *       action.c         what forms post to
 *       asset.c          what pages load: style, scripts, the icon
 *       csrf.c           proves that a form is ours
 *       form.c           forms, and arguments of operations from a request
 *       home.c           pages: Home
 *       page_contact.c   page: contacts, and their answers
 *       page_history.c   pages: commits, and files as they were
 *       page_lease.c     page: who holds which files; taking a lease away
 *       page_mailbox.c   pages: mailboxes of agents, their mail, the wake-ups
 *       page_status.c    page: health, and charts of what goes on
 *       page_traffic.c   page: who writes to whom, drawn
 *       live.c           tells open pages that something has changed
 *       live_files.c     follows the workspace and the mailboxes that pages showed
 *       pages.c          the list of all pages
 *       sign.c           signing in and out, choosing the colours
 *       page_mail.c      pages: mail in lists, a conversation, a message; writing
 *       page_file.c      pages: files of messages
 *       page_search.c    page: search in all mail
 *       page_project.c   pages: all projects, one, its agents
 *       template_set.c   the built-in templates, parsed when they are needed
 *       theme.c          light, dark, or as the system has it
 *       view.c           a page being answered: runs what it asks, shows its template
 *       web.c            the routes of pages and actions
 *       work.c           pages: the e-mail workspace
 *       work_act.c       actions: what a person does in the e-mail workspace
 *
 *   op/                what can be asked
 *     agent_auth.c       whether a caller may act as an agent
 *     args.c             decodes arguments into typed values
 *     bind.c             requests and results by the tables that describe them
 *     command.c          the tree of commands that the operation table implies
 *     contract.c         what differs between the contracts that share the table
 *     dispatch.c         decode, check needs, run, count, log
 *     grid.c             columns that fit the terminal
 *     help.c             help for every level
 *     nouns.c            the list of all operations
 *     op.c               the table
 *     render.c           a result as people read it
 *     render_part.c      what the renderers share
 *     schema.c           JSON Schema from the table
 *     trace.c            operations as OpenTelemetry spans
 *     mailbox/         the mailbox roots' operations
 *       agents.c         operations: agents and their mailboxes
 *       agents_notices.c operation: when agents were told of their mail
 *       agents_notifier.c operations: how an agent is told of its mail
 *       contract_gateway.c agents' mail over HTTP: whose it is, what failures look like
 *       contract_mail.c  agents' mail: whom a command is for
 *       gateway_body.c   bodies of requests, checked to the letter
 *       gateway_log.c    what it notes, in its files
 *       gateway_look.c   operations over HTTP: status, list, peek, read
 *       gateway_mark.c   operations over HTTP: mark, move, archive
 *       gateway_notifier.c operations over HTTP: the same, and the long poll
 *       gateway_parts.c  what runs beside a gateway's routes
 *       gateway_rules.c  rules for single values in bodies
 *       gateway_service.c an agent's gateway: claimed, found, given up
 *       gateway_table.c  what it serves
 *       gateway_write.c  operations over HTTP: send, post, reply
 *       houmao.c         its operations as the program houmao-mgr
 *       mail_look.c      operations: which mailbox is meant, what is in it
 *       mail_mark.c      operations: mark, move, archive
 *       mail_notices.c   operations: the ledger of wake-ups, hooks of coding agents
 *       mail_session.c   the agent of a command, with its mail open
 *       mail_terminal.c  operations submitted to the agent's terminal
 *       mail_words.c     what was typed becomes a draft
 *       mail_write.c     operations: send, post, reply
 *       mailbox_account.c operations: addresses of a mailbox root
 *       mailbox_adopt.c  operation: adopts a root that was moved or copied
 *       mailbox_mail.c   operations: its messages
 *       mailbox_payload.c the managed scripts' payloads
 *       mailbox_root.c   operations: the root as a whole
 *       mailbox_script.c operation: the managed scripts
 *       render_mailbox.c roots and registrations on a terminal
 *       render_mailbox_mail.c their messages, and what was removed or exported
 *       render_agent_mail.c agents and their mail on a terminal
 *       render_notifier.c wake-ups on a terminal
 *       shape_gateway.c  results of verbs as gateways give them
 *       shape_mail.c     messages of agents, results of verbs
 *       shape_mailbox.c  the mailbox contract's objects
 *       shape_notifier.c the notifier's settings and notices
 *       skills.c         operations: the skills of agents' mail
 *     self/            operations on Mailroom itself
 *       config.c         operation: the settings in force
 *       connect.c        operation: Mailroom entered into a client
 *       doctor.c         operation: checks the setup
 *       extended.c       operations: tools found and called by name
 *       health.c         operations: liveness, readiness, health
 *       operations.c     operations: the table itself, and its schemas
 *       render_self.c    settings and operations
 *       self_backup.c    operations: backup and restore
 *       service.c        operations: the systemd user service
 *     team/            the team's operations and what they show
 *       contract_team.c  the team's contract: who may act, what errors look like
 *       render_attention.c what needs a person, on a terminal
 *       render_contact.c contacts, products, slots, macros
 *       render_guard.c   the guard's result on a terminal
 *       render_history.c commits, files and traffic on a terminal
 *       render_lease.c   leases as people read them
 *       render_mail.c    messages as people read them
 *       render_search.c  search hits and summaries on a terminal
 *       render_overview.c what goes on in a project, on a terminal
 *       render_team.c    projects and agents as people read them
 *       shape_team.c     times, projects and agents as JSON
 *       shape_team_contact.c links, products and slots as JSON
 *       shape_team_lease.c leases as JSON
 *       shape_team_mail.c messages as JSON
 *       shape_team_search.c search hits as JSON
 *       shape_team_summary.c thread summaries as JSON
 *       sharing.c        sessions that servers share, for the surfaces
 *       suggest.c        completion of arguments
 *       team_agent.c     operations: the agents of a project
 *       team_attention.c operation: what needs a person in all projects
 *       team_contact.c   operations: contacts between agents
 *       team_find.c      operation: projects and agents by a few letters
 *       team_group.c     operations: groups of agents
 *       team_guard.c     operations: install and remove the git hooks
 *       team_guard_check.c operations: check files against leases
 *       team_guard_hook.c operations: the hooks of coding agents' programs
 *       team_health.c    operation: health of the team's storage
 *       team_history.c   operations: commits of the archive, and its files
 *       team_activity.c  operation: how much goes on
 *       team_traffic.c   operation: who writes to whom
 *       team_home.c      the team's storage of this program
 *       team_inbox.c     operations: inbox, outbox, read, acknowledge
 *       team_macro.c     operations: frequent sequences of calls
 *       team_mail.c      operations: send and reply
 *       team_ops.c       what the team's operations share
 *       team_attachment.c operation: a file of a message
 *       team_instruct.c  operation: a person writes to agents
 *       team_latest.c    operation: the newest messages of everybody
 *       team_overview.c  operation: what goes on in a project, for a person
 *       team_product.c   operations: products, which group projects
 *       team_project.c   operations: the projects of a team
 *       team_reservation.c operations: leases on files
 *       team_move.c      operation: moves the database to another place
 *       team_root.c      operations: the storage as a whole
 *       team_search.c    operation: full-text search
 *       team_share.c     operations: export the mail, verify an export
 *       team_slot.c      operations: build slots
 *       team_summary.c   operations: summaries of threads
 *       team_thread.c    operations: a message, a conversation
 *       team_wait.c      operation: wait for a message
 *       view_mail.c      views of messages, threads and an agent's mail
 *       view_team.c      views of projects, agents and products
 *       watching.c       waits for changes, for the surfaces
 *     work/            the e-mail workspace's operations
 *       afmail.c         its operations as the program afmail
 *       around_work.c    directories and variables around a command
 *       contract_work.c  its contract: Agent-First Data
 *       event_work.c     the lines that --log asks for
 *       fence_work.c     text from outside marked off, and who wrote it
 *       help_work.c      help as text, Markdown and objects
 *       render_archive.c the archive on a terminal
 *       render_case.c    cases on a terminal
 *       render_config_work.c the configuration on a terminal
 *       render_contact_work.c contacts on a terminal
 *       render_doctor.c  what is wrong with a workspace, on a terminal
 *       render_draft.c   drafts on a terminal
 *       render_found.c   what a search found, for people
 *       render_message.c messages in lists and in full
 *       render_page.c    pages of a workspace on a terminal
 *       render_push.c    the queue, purges, refreshes and the audit log
 *       render_remote.c  mail servers on a terminal: set up, looked at, pulled from
 *       render_root.c    a workspace as a whole on a terminal
 *       render_skill_work.c the skill's places on a terminal
 *       render_suggestion.c suggestions
 *       tools_work.c     the workspace that a server offers as tools
 *       work_approval.c  operations: a person reads what is queued, approves it or sends it back
 *       work_archive.c   operations: what the archive holds, and its categories
 *       work_archive_case.c archived cases
 *       work_archive_message.c single messages in and out of the archive
 *       work_case.c      operations: cases and their messages
 *       work_case_change.c what becomes of a case as a whole
 *       work_config.c    operations: the configuration
 *       work_contact.c   operations: find and show contacts
 *       work_contact_change.c operations: make and change contacts
 *       work_doctor.c    operations: examine a workspace, and repair it
 *       work_draft.c     operations: drafts are made, changed and given files
 *       work_draft_queue.c drafts are shown, checked, queued and removed
 *       work_log.c       operations: the audit log
 *       work_message.c   operations: single messages
 *       work_notes.c     operations: notes of cases and categories
 *       work_ops.c       what its operations share
 *       work_pull.c      operations: pull, look at the server
 *       work_purge.c     operation: delete discarded messages for good
 *       work_push.c      operations: what is queued for the server
 *       work_render.c    operations: generated files and templates
 *       work_root.c      operations: make a workspace, take mail in, look at it
 *       work_search.c    operation: search in its mail
 *       work_setup.c     operation: connect it with a mail account
 *       work_skill.c     operations: the skill for agents
 *       work_suggestion.c operations: what an agent would do
 *       work_triage.c    operations: messages that wait for a decision
 *
 *   app/               what runs the program, and the files of other programs
 *     client.c           the table of coding agents' programs and their entries
 *     client_change.c    a client's files are changed, with records for --undo
 *     client_file.c      edits of other programs' JSON and text files
 *     client_record.c    what connect changed, for --undo
 *     client_toml.c      our table in a client's TOML file
 *     client_trust.c     what a person has to allow in a client, and what it says
 *     locations.c        paths of the program, repository and clients; URLs
 *     locations_socket.c the server's Unix socket, and whom it trusts over TCP
 *     metrics.c          counters and histograms, as Prometheus text
 *     pace.c             the last hour by the minute
 *     settings.c         loads the settings, with their sources
 *     settings_copy.c    the user's settings file without its secrets
 *     settings_table.c   the table of all settings
 *     unit_file.c        the units of the systemd user service
 *
 *   bridge/            what needs more than one of the three parts
 *     backup.c           everything into one file, while it is in use
 *     backup_file.c      that file: a tar archive with digests
 *     restore.c          it is checked, and put in place
 *
 *   team/              coding agents sharing a repository
 *     agent.c            members of a project: found, registered, edited
 *     agent_sql.c        the rows of agents
 *     ask.c              queries of operations and surfaces
 *     attention.c        what needs a person, of all projects
 *     attention_sql.c    its queries
 *     attachment.c       files that go with a message
 *     attachment_body.c  finds image references in a body
 *     attachment_source.c which files may be attached
 *     attachment_sql.c   attached files in the database, for other machines
 *     attachment_store.c stores attachments by their digest
 *     client_sql.c       sessions of clients that several servers share
 *     contact.c          contact requests and answers
 *     contact_decide.c   may this agent write to that one?
 *     contact_sql.c      links between agents, and what a decision asks
 *     error.c            the contract's errors, with data
 *     escalate.c         escalates overdue acknowledgements
 *     escalate_sql.c     overdue acknowledgements in the database
 *     freeze.c           holds a team's storage still for a backup
 *     find_sql.c         projects and agents by a few letters
 *     follow.c           what happens in a project, as it happens
 *     gauge.c            counts of stored and queued items, for /metrics
 *     gauge_sql.c        and the queries
 *     group.c            several agents under one address
 *     group_sql.c        and the rows of named groups
 *     hook_sql.c         what hooks of a client's session have noted
 *     identity.c         a project's identity: its path or git repository
 *     inbox.c            lists of messages; read and acknowledge marks
 *     inbox_sql.c        lists of messages, each from an index
 *     instruct.c         what the overseer says to agents
 *     latest_sql.c       the newest messages of everybody
 *     inbox_wait.c       waits for new messages in an inbox
 *     layout.c           the names of everything in a project's archive
 *     llm.c              asking a language model, where one is configured
 *     macro.c            frequent sequences of calls as one
 *     message.c          sending: decided and stored in one change
 *     message_cache.c    a cache of recently listed messages
 *     message_recall.c   the result of a repeated idempotency key
 *     message_reply.c    replies
 *     message_sql.c      messages and recipients
 *     model.c            the contract's words as enums
 *     name.c             generates and checks agent names
 *     open.c             opens and closes the storage, with its caches
 *     overseer.c         the agent of the person who oversees a project
 *     post.c             stores a message or a notice
 *     probe.c            checks the health of the storage
 *     probe_sql.c        and the queries
 *     product.c          products, which group projects
 *     product_sql.c      products in the database, and their mail
 *     project.c          finds and creates projects
 *     project_sql.c      the rows of projects
 *     move.c             moves the database to another place, and compares
 *     move_sql.c         its tables, row by row
 *     purge.c            deletes an agent from database and archive
 *     purge_sql.c        finds all rows that mention it
 *     recipient.c        resolves addresses to agents
 *     repository.c       the git repository that a directory belongs to
 *     retire.c           retires or purges agents
 *     retire_sql.c       their leases, slots and rows
 *     search.c           full-text search
 *     search_query.c     the keys of a message search
 *     search_sql.c       the SQL of a search
 *     session_sql.c      by what an agent that comes back is known
 *     summary.c          summaries of threads
 *     summary_lines.c    the heuristic, by lines
 *     summary_llm.c      worded by a model
 *     thread_sql.c       conversations
 *     timers.c           periodic work of a server
 *     topic.c            what clients can subscribe to
 *     traffic.c          who writes to whom
 *     traffic_sql.c      counts pairs of senders and recipients
 *     archive/         the git history and the way back from it
 *       archive.c        drains the queue, reads the history
 *       archive_commit.c the commit that brought a message in
 *       archive_document.c a message as a file, a thread's digest
 *       archive_files.c  builds files from rows
 *       archive_locks.c  processes that write to an archive now
 *       archive_look.c   a history as people look at it
 *       archive_place.c  which storage root keeps the archive, of several
 *       archive_place_sql.c and its SQL
 *       archive_record.c its JSON files
 *       archive_repair.c rewrites files that a power loss tore
 *       archive_round.c  queued rows become a commit
 *       archive_source_sql.c reads the rows for archive files
 *       archive_sql.c    the archive queue in the database
 *       archiver.c       the background thread that archives
 *       check.c          compares archive and database
 *       archive_take.c   takes the archive over from another server
 *       rebuild.c        a database from the archives, and the other way round
 *       rebuild_carry.c  copies what only the old database has
 *       rebuild_carry_sql.c and its SQL
 *       rebuild_hold.c   restores leases, slots and links
 *       rebuild_origin.c chooses between commit and work tree
 *       rebuild_read.c   restores projects, agents and messages
 *       rebuild_sql.c    inserts restored rows
 *       rebuild_refill.c queues all that an archive should have
 *       rebuild_tree.c   the files of an archive as its newest commit has them
 *     guard/           what git hooks ask
 *       guard.c          finds leases of others on given paths
 *       guard_archive.c  leases from the archive's files
 *       guard_database.c leases from the database
 *       guard_edit.c     files that an editor is about to change
 *       guard_git.c      what a commit or a push would change
 *       guard_hook.c     installs and removes git hooks
 *       guard_server.c   leases from a server
 *       guard_session.c  for which agent a client's session acts, and its mail
 *     lease/           leases on files, build slots
 *       lease_index.c    finds leases that may overlap a pattern
 *       reservation.c    leases: granted, released, renewed
 *       reservation_force.c releases another agent's stale lease
 *       reservation_guard.c leases that stop mail
 *       reservation_list.c lists leases, releases expired ones
 *       reservation_sql.c leases in the database
 *       slot.c           build slots: one holder at a time
 *       slot_sql.c       slots in the database
 *       staleness.c      judges whether a lease is in use
 *     share/           bundles for others to read
 *       share.c          exports the mail for others to read
 *       share_attach.c   the attachments of an export
 *       share_files.c    the files of an export
 *       share_manifest.c README and manifest of an export
 *       share_secret.c   secrets: found, replaced, checked
 *       share_sql.c      the database of an export
 *       share_verify.c   compares an export with its manifest
 *       share_view.c     the data of an export's web page
 *       share_zip.c      packs an export into one file
 *     store/           the database, its writer and readers, and who waits for changes
 *       changes_sql.c    changes since a cursor
 *       database.c       checks the open database, reopens it when lost
 *       duty.c           which of several servers archives and runs the timers
 *       pulse.c          checks that the database accepts writes
 *       root.c           opens and closes a team's storage
 *       schema_sql.c     its tables
 *       standing_sql.c   may this program write to it as it stands?
 *       use_lock.c       keeps a rebuild and the users of a database apart
 *       wait.c           waits until a condition of the database holds
 *       watch.c          wakes waiting threads when the database changes
 *
 *   workspace/         a person's mail as files that an agent works on
 *     account.c          the accounts on the mail servers, with their secrets
 *     archive.c          lists the archive; makes, shows and renames categories
 *     archive_case.c     archived cases: shown, renamed, their notes
 *     archive_message.c  puts messages into categories, moves them, takes them out
 *     audit.c            adds events to the audit log
 *     audit_read.c       reads the audit log
 *     case.c             makes, lists and shows cases
 *     case_archive.c     puts them into the archive, and brings them back
 *     case_change.c      moves, renames, tags, reopens and deletes them
 *     case_merge.c       puts one into another
 *     case_message.c     their messages
 *     case_save.c        counts what is in a case, and writes it
 *     case_shared.c      steps that commands of cases and categories share
 *     change.c           changes of several files that happen as a whole
 *     change_journal.c   their journals, finished after a crash
 *     change_step.c      their steps, carried out
 *     collection.c       the document of a list of messages
 *     config.c           reads and checks the configuration
 *     config_actions.c   its mailboxes and actions
 *     config_ask.c       questions that many commands have for it
 *     config_default.c   a new configuration, and how one is written
 *     config_key.c       the table of its keys, and their values
 *     config_list.c      all keys; members of lists added and removed
 *     config_server.c    what it says of the two servers
 *     config_set.c       changes it by its keys
 *     config_steps.c     the steps of actions
 *     contact.c          contacts found, listed and shown
 *     contact_card.c     the card of a contact
 *     disposition.c      puts messages into spam and trash
 *     doctor.c           examines a workspace from one end to the other
 *     doctor_collection.c examines cases, categories and what was discarded
 *     doctor_message.c   examines the files of messages
 *     doctor_people.c    examines contacts and personas
 *     doctor_repair.c    repairs what can be repaired without guessing
 *     doctor_view.c      examines templates and projections
 *     draft.c            makes, lists and shows drafts
 *     draft_build.c      the mail of a draft
 *     draft_change.c     changes drafts, attaches files
 *     draft_check.c      whether a draft can be sent
 *     draft_file.c       the files of drafts
 *     draft_queue.c      queues and removes drafts
 *     draft_reply.c      drafts that answer or forward a message
 *     draft_state.c      which content of a draft was valid when
 *     edit_contact.c     contacts made, changed and archived
 *     error.c            the words and hints of failures
 *     evidence.c         loads the files of one message
 *     extract_contact.c  contacts made of the senders of messages
 *     folders.c          mailboxes of the server and their special uses
 *     frame.c            finds, locks and opens a workspace
 *     generation.c       the layout's version, old configurations and queued items
 *     generation_list.c  old cases and categories, the migration of a workspace
 *     gitignore.c        the managed block of a .gitignore
 *     identity.c         which identity a mail was sent to
 *     ids.c              lists of message ids
 *     import.c           takes mail in from files
 *     index.c            keeps the index in step with the files
 *     index_ask_sql.c    queries of the index
 *     index_follow.c     notices sidecars and cards that were edited by hand
 *     index_follow_sql.c views that are behind the files they show
 *     index_sql.c        its tables, and the statements that fill them
 *     init.c             makes a workspace, or completes one
 *     init_text.c        what it writes for agents and people
 *     layout.c           where things stand in it
 *     mail_server.c     sessions with the IMAP server, and its mailboxes
 *     managed_block.c    our part of a file that is a user's
 *     members.c          questions over the messages of lists
 *     merged.c           where merged cases went
 *     message.c          shows a message, saves its attachments
 *     message_list.c     lists messages, and those in triage
 *     name.c             ids, refs and names
 *     notes.c            the notes of cases and categories
 *     offset.c           offsets from UTC
 *     persona.c          persona files
 *     place.c            finds cases and categories, gives out uids
 *     progress.c         the progress of a running command
 *     provider.c         the servers of well-known mail providers
 *     pull.c             what is asked of the server, checked
 *     pull_arrive.c      what arrives while a watch waits is taken in at once
 *     pull_bodies.c      bodies fetched over as many connections as it takes
 *     pull_box.c         what is in a mailbox, or changed in it, compared
 *     pull_known.c      where messages were when the server was last asked
 *     pull_limit.c       what is too old, too many or too much stays on the server
 *     pull_resolve.c     finds the mailboxes of a pull on the server
 *     pull_run.c        a pull: what is on the server, taken in
 *     pull_settle.c     what a pull learnt about known messages
 *     pull_state.c       what the server said last
 *     pull_take.c        bodies that came become evidence
 *     pull_watch.c       pulls as mail arrives
 *     purge.c            throws discarded messages away for good
 *     push.c             what a push would do; drops queued items
 *     push_approval.c    what a person said of a queued item
 *     push_confirm.c     carries the queue out, item by item, step by step
 *     push_content.c     digests of what a push would do
 *     push_decide.c      approves queued items, or sends them back
 *     push_imap.c        appends, flags and moves mails on the IMAP server
 *     push_mail.c        the mail of a queued draft: built once, sent, recorded
 *     push_recover.c     settles mails that may have been sent
 *     push_show.c        queued items as a person reads them
 *     queue.c            the items of the push queue
 *     queue_action.c     queues what is to be done to messages on the server
 *     record.c           makes the record of a message
 *     record_value.c     the record as a JSON document
 *     reference.c        what keeps a message from being discarded
 *     refresh.c          writes stale records and views
 *     refresh_known.c    whether a whole refresh has anything to do
 *     remote.c           where a message is on the server
 *     request.c          commands that are carried out once, by their callers' ids
 *     restore.c          brings messages back to triage
 *     search.c           full-text search in its messages
 *     search_sql.c       the SQL of a search
 *     secret.c           a secret from where the configuration says it is
 *     setup.c            connects a workspace with an account: plans and tries it
 *     setup_store.c      the same: writes it
 *     skill.c            the skill for agents: installed, removed
 *     skill_agent.c      the agents, and where they look for skills
 *     skill_document.c   the text of the skill
 *     special_use.c      what mailboxes of a server are for
 *     status.c           counts for the status command
 *     submission.c       reaches the SMTP server that sends mail
 *     suggest.c          makes suggestions, and does what they say
 *     suggestion.c       what an agent would do with messages in triage
 *     take.c             gives a message its id and stores its bytes
 *     templates.c        finds, parses and renders templates
 *     templates_builtin.c the sources of the built-in templates
 *     templates_export.c copies built-in templates into the workspace
 *     text_set.c         texts of which none stands twice
 *     view.c             the views of triage, cases, categories, spam and trash
 *     view_row.c         the row of a message in an index view
 *     view_section.c     a message as a section of a conversation
 *     withdraw.c         takes messages out of queued items
 *
 *   mailbox/           agents' mailboxes in plain files
 *     account.c          accounts on a JMAP server, made and given a password
 *     adopt.c            plans how a moved or copied root becomes a root of its own
 *     agent.c            the agent that a command is for
 *     agent_make.c       sessions of agents: made, bound, removed
 *     agent_unfinished.c sessions that are being made, and what is left of them
 *     binding.c          which mailbox a session has
 *     carry.c            mail on its way to a JMAP server and back: what both ways share,
 *     carry_in.c         into a root,
 *     carry_out.c        and out of it
 *     channel_command.c  a program gets the prompt that wakes an agent
 *     channel_tmux.c     the prompt is typed into the agent's pane
 *     cleanup.c          removes inactive and stashed registrations
 *     cleanup_sql.c      which messages a clear takes from the index
 *     clear.c            clears messages
 *     clear_plan.c       plans a clear
 *     compose.c          a draft becomes a message
 *     compose_file.c     describes a file to attach
 *     credential.c       the files of passwords
 *     deliver.c          delivers a staged message, to all or none
 *     deliver_recover.c  delivery intents, and recovery from them
 *     deliver_steps.c    the steps of a delivery, and their undoing
 *     document.c         a message as bytes
 *     export.c           accounts as a directory of plain files
 *     export_account.c   exports a registration
 *     export_copy.c      creates files of an export
 *     export_mail.c      exports messages, projections, attachments
 *     export_manifest.c  manifest.json
 *     export_sql.c       reads the rows to export
 *     export_temporary.c the export's directory before its rename
 *     freeze.c           holds all locks of a root for a backup
 *     gateway.c          the files of an agent's gateway, and finding one that runs
 *     holder.c           which root a private directory belongs to
 *     index_schema_sql.c the tables and indexes of index.sqlite
 *     index_sql.c        messages, recipients, projections in the index
 *     inside.c           checks that a stored path is below its directory
 *     inspect.c          accounts and messages in the index
 *     jmap_email.c       messages as a JMAP server's Emails: read,
 *     jmap_email_write.c and written
 *     layout.c           the names of everything below a root
 *     ledger_sql.c       which wake-ups there were
 *     lend.c             databases that stay open from step to step
 *     lock_all.c         the index and the locks of many registrations
 *     locks.c            the contract's locks, that no dead process keeps
 *     mail.c             lists, reads, marks and moves an address's mail
 *     mail_fs.c          the same in a root on this machine
 *     mail_gateway.c     the same, asked of the agent's gateway
 *     mail_jmap.c        the same, kept on a JMAP server
 *     mail_jmap_known.c  what is known of that server
 *     mail_jmap_lookup.c what became of a message that was to be sent
 *     mail_jmap_send.c   sends through it
 *     mail_keep.c        copies of attached files
 *     mail_once.c        recognises requests to send that come twice
 *     mail_open.c        the mail of a binding, whatever its transport
 *     mail_prompt.c      a mail operation as a prompt for a terminal, and its answer
 *     mail_send.c        sends, posts and answers
 *     mail_sql.c         the messages of a list
 *     mail_tui.c         operations typed into the agent's terminal
 *     message.c          compares messages, lists recipients
 *     message_field.c    reads single fields
 *     message_read.c     reads and checks a whole message
 *     notice_block.c     senders' notices in a wake-up: verified, quoted, cut
 *     notice_prompt.c    the text that wakes an agent
 *     notifier.c         tells those who ask of their mail
 *     notifier_hub.c     wakes them, and prompts, when a mailbox changes
 *     notifier_hub_wait.c long polls: who waits for an agent's mail
 *     notifier_plan.c    what is to be told, by inbox and ledger
 *     notifier_push.c    is told of changes by a server
 *     notifier_round.c   one round of prompts: look, queue, deliver
 *     notifier_settings.c its settings: defaults, and rules of a change
 *     notifier_sql.c     settings, audit and requests in queue.sqlite
 *     notify.c           the sender's notice
 *     open.c             opens a root, recovers after a crash
 *     open_init.c        creates or completes a root
 *     place.c            puts messages into one mailbox of a root
 *     register.c         registers addresses
 *     register_local.c   boxes and database of a mailbox directory
 *     register_swap.c    replaces an entry of mailboxes/ crash-safely
 *     registration_sql.c registrations in the index
 *     registry.c         the records of agents on this machine
 *     repair.c           check and repair
 *     repair_accounts.c  repair: registrations
 *     repair_known.c     repair: a compact table of message ids
 *     repair_links.c     repair: the links in a mailbox
 *     repair_local.c     repair: mailbox.sqlite
 *     repair_mailbox.c   repair: the messages of one mailbox
 *     repair_messages.c  repair: documents and index
 *     repair_own.c       repair: a private directory of another root
 *     repair_sql.c       queries of check and repair
 *     repair_staging.c   repair: quarantine, locks and intents
 *     repair_threads.c   repair: summaries of threads
 *     root.c             examines a root, opens its databases
 *     rules.c            rules/: policy and managed scripts
 *     skill.c            the skills of agents' mail: installed, removed
 *     snapshot.c         a copy of a database at one moment
 *     session.c          the manifest of an agent's session
 *     state.c            flags of messages
 *     state_move.c       moves a message to another box
 *     state_sql.c        mailbox.sqlite
 *     tmux.c             types into a pane of tmux, and sees that it arrived
 *     trash.c            files that an operation removes
 *     unregister.c       deactivates or purges registrations
 *
 *
 *   net/               other machines
 *     curl.c             libcurl, loaded when it is first needed
 *     event_source.c     a stream of events that a server pushes
 *     http_client.c      one HTTP request, and its answer
 *     imap.c             a session with an IMAP server
 *     imap_deflate.c     compression of its connection
 *     imap_login.c       the ways into an IMAP server
 *     imap_stream.c      the connection that it has, logged in
 *     jmap_batch.c       method calls, in as many requests as the server's limits ask for
 *     jmap_client.c      the connection to a JMAP server: its session, exchanges, blobs
 *     jmap_error.c       what a JMAP server refuses
 *     jmap_method.c      what is known of methods
 *     jmap_request.c     calls being written
 *     jmap_result.c      what came of the parts of a request
 *     jmap_watch.c       a thread that learns of changed mail, pushed or polled
 *     local_socket.c     a server of the same user, through a socket in the file system
 *     otlp.c             traces for a collector
 *     smtp.c             hands one mail to an SMTP server
 *
 *   data/              state on this machine
 *     db.c               the driver interface: connections, statements, transactions, search
 *     db_postgres.c      PostgreSQL behind it: connections, transactions
 *     db_postgres_connect.c  the way to a server
 *     db_postgres_duty.c  who does what one must do alone
 *     db_postgres_error.c  its errors as ours
 *     db_postgres_lib.c  libpq, loaded when it is needed
 *     db_postgres_listen.c  notices between servers
 *     db_postgres_memo.c    what a writer has read in its transaction
 *     db_postgres_search.c  full-text search
 *     db_postgres_server.c  how the server stands
 *     db_postgres_statement.c  statements, alone and many at once
 *     db_postgres_wait.c  statements that wait no longer than they may
 *     db_postgres_words.c  the words that engines spell differently
 *     db_sqlite.c        SQLite behind it
 *     db_sqlite_bell.c   notices between processes: a file that is touched
 *     db_sqlite_check.c  the full check of a file
 *     db_sqlite_error.c  its errors as ours
 *     db_sqlite_file.c   the file, as the file system sees it
 *     db_sqlite_place.c  the open files: the same as before, and the log not too long
 *     db_sqlite_score.c  the ranking of a search
 *     db_sqlite_search.c full-text search
 *     db_sqlite_words.c  the words that engines spell differently
 *     followed.c         tells that databases and lock files changed
 *     git.c              libgit2, loaded when it is first needed
 *     history.c          git repositories: reading, the branch, the log, the index
 *     history_append.c   opens, locks and appends to a repository
 *     history_commit.c   a batch becomes trees, a commit, a pack
 *     history_list.c     what is in a directory of a commit
 *     history_object.c   git's objects as bytes: ids, trees, deltas
 *     history_pack.c     packs as files
 *     history_pack_file.c packs as bytes
 *     history_pack_merge.c many packs become one, in linear time
 *     history_repair.c   files of the work tree that a power loss tore
 *     history_text.c     paths and commit messages
 *     history_work.c     the work tree, and the note of its state
 *     match.c            a query that was typed, as a condition of a search
 *     migrate.c          numbered migrations
 *     queue.c            the group-commit writer
 *     rows.c             a statement in one call: values bound, rows read
 *
 *   text/              bytes <-> values, no I/O
 *     address.c          name@domain
 *     afd.c              values as JSON, YAML and pairs, keys with units
 *     afd_redact.c       secrets taken out of them
 *     afd_suffix.c       what the suffix of a key says of its value
 *     clean.c            control characters, and characters that are not seen
 *     database_url.c     addresses of databases on servers, without their passwords
 *     digest.c           SHA-1 and SHA-256, MACs and signatures
 *     dotenv.c           .env files
 *     event_stream.c     events of a text/event-stream
 *     file_name.c        names of files from outside, made safe
 *     frontmatter.c      a head between --- lines, and the body
 *     glob.c             path patterns: match
 *     glob_expand.c      their text: normalised, braces written out
 *     glob_overlap.c     whether two patterns can match a common path
 *     glob_parse.c       from text to sets of characters
 *     html.c             HTML to text and to Markdown
 *     image.c            pictures: what they are, how large
 *     image_jpeg.c       JPEG to pixels
 *     image_png.c        PNG to pixels
 *     image_turn.c       applies a JPEG's orientation
 *     image_webp.c       WebP to pixels, and back
 *     imap_response.c    responses of an IMAP server, taken apart
 *     imap_words.c       sets, quoted words and mailbox names of IMAP
 *     jmap.c             a JMAP server's session, responses and addresses
 *     json.c             JSON in and out
 *     jwt.c              signed claims, checked
 *     mail_auth.c        SPF, DKIM and DMARC verdicts of a mail
 *     markdown.c         a walk through Markdown, block by block
 *     markdown_embed.c   foreign text in Markdown that we write
 *     markdown_fence.c   fenced blocks, by lines
 *     markdown_html.c    as HTML with only our tags
 *     markdown_text.c    as plain text
 *     mime.c             e-mail messages, read
 *     mime_address.c     their addresses and message ids
 *     mime_body.c        which parts are the body, which are attachments
 *     mime_build.c       messages built: the bytes that are sent
 *     mime_charset.c     any charset as UTF-8
 *     mime_codec.c       parameters, dates, transfer encodings
 *     mime_scan.c        header fields and parts, found in the bytes
 *     mime_words.c       encoded words of header fields
 *     out.c              the writer for results of handlers
 *     query.c            the parser of search queries
 *     quoted.c           quoted history at the end of a mail
 *     scram.c            logins that prove a password without telling it
 *     smtp_reply.c       replies of an SMTP server, line by line
 *     skill_file.c       SKILL.md: can an agent load it?
 *     snippet.c          the lines of a text around what was looked for
 *     template.c         templates: parsed once, rendered often
 *     template_call.c    macros, functions, the parts of a loop
 *     template_compare.c which values are equal, less, in another
 *     template_eval.c    the value of an expression
 *     template_expr.c    expressions parsed
 *     template_filter.c  filters by name, and their arguments
 *     template_filter_html.c filters for HTML, JSON and URLs
 *     template_filter_list.c filters over lists and maps
 *     template_filter_number.c filters that count
 *     template_filter_select.c filters that apply another to every item
 *     template_filter_sort.c filters that sort and group
 *     template_filter_text.c filters over texts
 *     template_is.c      tests: what stands after "is"
 *     template_lex.c     their source as tokens
 *     template_math.c    operators between two values
 *     template_operand.c values parsed, and what follows them
 *     template_other.c   include, import and extends
 *     template_parse.c   statements parsed
 *     template_print.c   values as text, HTML and JSON
 *     template_run.c     statements carried out
 *     template_scope.c   names while rendering, and what they cost
 *     template_token.c   what the parsers ask of tokens
 *     template_value.c   values while rendering
 *     tar.c              headers of tar archives
 *     time.c             RFC 3339 and durations
 *     token.c            ids, slugs, random names
 *     toml.c             TOML documents, taken apart into their statements
 *     value.c            the tree JSON and YAML are read into, and cursors
 *     yaml.c             YAML in
 *     yaml_scalar.c      what a plain scalar means
 *     yaml_writer.c      YAML out
 *     zip.c              records of ZIP archives
 *
 *   base/              the platform, no mail words
 *     arena.c            memory freed all at once
 *     boot.c             the time of the last boot
 *     buf.c              bytes being built, with a maximum
 *     clock.c            time, passed in
 *     crash_off.c        the same points in a build for users: nothing
 *     crash_on.c         named points at which tests stop the program
 *     deflate.c          zlib: bytes packed and unpacked in pieces
 *     err.c              errors, and what each code means outside
 *     errand.c           a few threads that do the work of many that wait
 *     fs.c               files: atomic, bounded, kept inside
 *     fs_many.c          many files made durable at once
 *     fs_tree.c          directories and all that is below them
 *     fs_watch.c         waiting until a file is touched
 *     fs_watch_dirs.c    what happens in many directories
 *     keeper.c           cleans up after this process's death
 *     library.c          shared libraries, loaded when they are first needed
 *     lock.c             one holder at a time, by the kernel
 *     log.c              JSON lines to one sink
 *     memory.c           how much memory this process may use
 *     oom.c              the line a process without memory ends with
 *     proc.c             other programs, without a shell
 *     rand.c             random bytes, passed in
 *     reach.c            which directories a caller may name
 *     shelf.c            connections and the like, open for the next request
 *     str.c              functions on text
 *     utf8.c             UTF-8
 */
#include "op/contract.h"
#include "op/mailbox/houmao.h"
#include "op/nouns.h"
#include "op/work/afmail.h"
#include "surface/cli/cli.h"
#include "surface/cli/commands.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Those of the command line alone. */
enum { OWN_COMMANDS = 8 };

static int run_mailroom(int argc, const char *const *argv)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	size_t alias_count = 0;
	const struct mr_op *const *aliases = mr_houmao_aliases(arena, &alias_count);
	const struct mr_op **ops =
		mr_arena_array(arena, mr_nouns.len + alias_count + OWN_COMMANDS, sizeof(*ops));
	struct mr_op_table table = { .ops = ops, .contract = &mr_contract_plain };

	ops[table.len++] = &mr_op_serve;
	ops[table.len++] = &mr_op_demo;
	ops[table.len++] = &mr_op_mcp;
	ops[table.len++] = &mr_op_gateway;
	for (size_t i = 0; i < mr_nouns.len; i++)
		ops[table.len++] = mr_nouns.ops[i];
	for (size_t i = 0; i < alias_count; i++)
		ops[table.len++] = aliases[i];
	ops[table.len++] = &mr_op_team_watch;
	ops[table.len++] = &mr_op_completion;
	ops[table.len++] = &mr_op_manual;
	ops[table.len++] = &mr_op_help;
	return mr_cli_run(&table, argc, argv, (const char *const *)environ);
}

static int run_afmail(int argc, const char *const *argv)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_op_table table = mr_afmail_table(arena, &mr_op_help);

	return mr_cli_run(&table, argc, argv, (const char *const *)environ);
}

static int run_houmao(int argc, const char *const *argv)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_op_table table =
		mr_houmao_table(arena, &mr_op_help, getenv("HOUMAO_CLI_PRINT_STYLE"));

	return mr_cli_run(&table, argc, argv, (const char *const *)environ);
}

int main(int argc, char **argv)
{
	const char *slash = argc ? strrchr(argv[0], '/') : NULL;
	const char *name = slash ? slash + 1 : argc ? argv[0] : "";

	int (*run)(int, const char *const *) = strcmp(name, "afmail") == 0 ? run_afmail
		: strcmp(name, "houmao-mgr") == 0                          ? run_houmao
									   : run_mailroom;

	exit(run(argc, (const char *const *)argv));
}
