DROP INDEX `messages_by_creation`;--> statement-breakpoint
DROP INDEX `messages_unfinished_by_conversation`;--> statement-breakpoint
CREATE INDEX `messages_unfinished_by_conversation` ON `messages` (`conversation_id`) WHERE status = 'queued' OR status = 'sending' OR status = 'uncertain';--> statement-breakpoint
DROP INDEX `events_by_age`;