import { maxSnapshotMs } from '../../store/database.ts'

/** Maximum duration of a query, in milliseconds; then its snapshot is closed. */
export const maxQueryMs = maxSnapshotMs
