DROP INDEX `idempotency_by_age`;--> statement-breakpoint
DROP INDEX `messages_by_direction`;--> statement-breakpoint
DROP INDEX `messages_deferred`;--> statement-breakpoint
DROP INDEX `messages_to_announce`;--> statement-breakpoint
CREATE INDEX `messages_next_step` ON `messages` (`status`,`due_at`) WHERE due_at IS NOT NULL AND status <> 'queued';--> statement-breakpoint
DROP TRIGGER `message_quarters_at_update`;--> statement-breakpoint
CREATE TRIGGER `message_quarters_at_update` AFTER UPDATE OF `sent_at`, `error_code` ON `messages`
WHEN (NEW.`status` = 'sent' OR NEW.`status` = 'delivered' OR NEW.`status` = 'read')
	<> (OLD.`status` = 'sent' OR OLD.`status` = 'delivered' OR OLD.`status` = 'read')
	OR (NEW.`status` = 'failed' OR NEW.`status` = 'expired') <> (OLD.`status` = 'failed' OR OLD.`status` = 'expired')
	OR (NEW.`status` = 'uncertain') <> (OLD.`status` = 'uncertain')
BEGIN
	INSERT INTO `message_quarters`
	SELECT NEW.`created_at` / 900000, NEW.`line_seq`, s, 0,
		(NEW.`status` = 'failed' OR NEW.`status` = 'expired')
			- (OLD.`status` = 'failed' OR OLD.`status` = 'expired'),
		(NEW.`status` = 'uncertain') - (OLD.`status` = 'uncertain'),
		t, t * ms, t * (ms <= 1000), t * (ms <= 5000), t * (ms <= 30000), t * (ms <= 300000)
	FROM (SELECT s, s * (NEW.`source` <> 'device') AS t,
		max(0, coalesce(iif(s < 0, OLD.`sent_at`, NEW.`sent_at`) - NEW.`waits_from`, 0)) AS ms
		FROM (SELECT (NEW.`status` = 'sent' OR NEW.`status` = 'delivered' OR NEW.`status` = 'read')
			- (OLD.`status` = 'sent' OR OLD.`status` = 'delivered' OR OLD.`status` = 'read') AS s))
	WHERE true
	ON CONFLICT (`quarter`, `line_seq`) DO UPDATE SET `sent` = `sent` + excluded.`sent`,
		`failed` = `failed` + excluded.`failed`, `uncertain` = `uncertain` + excluded.`uncertain`,
		`timed` = `timed` + excluded.`timed`,
		`timed_ms` = `timed_ms` + excluded.`timed_ms`, `ms_1000` = `ms_1000` + excluded.`ms_1000`,
		`ms_5000` = `ms_5000` + excluded.`ms_5000`, `ms_30000` = `ms_30000` + excluded.`ms_30000`,
		`ms_300000` = `ms_300000` + excluded.`ms_300000`;
END;
