/* op/work/shape_case.h - tables about cases that the operations of several files have. */
#pragma once

#include "op/op.h"

/* work_case.c: of struct mr_work_case_templates and struct mr_work_case_row. */
extern const struct mr_field mr_work_case_template_fields[];
extern const struct mr_field mr_work_case_row_fields[];
/* work_case_change.c: of struct mr_work_case_rename, mr_work_case_renamed and
 * mr_work_case_restored. */
extern const struct mr_param mr_work_case_rename_params[];
extern const struct mr_field mr_work_case_renamed_fields[];
extern const struct mr_field mr_work_case_restored_fields[];
