/// The window's style: GTK's CSS, with one palette each for light, dark and high contrast.
enum PromptStyle {
    static let shakeClass = "shake"
    static let shakeDuration: Duration = .milliseconds(450)

    enum Palette {
        case light, dark
        /// The theme's own colours, for users of a high-contrast theme.
        case theme
    }

    static func sheet(_ palette: Palette) -> String { colors(palette) + rules }

    /// The named colours that the rules use.
    static func colors(_ palette: Palette) -> String {
        switch palette {
        case .light:
            define(
                background: "#ffffff", text: "#1c1d26", dim: "#626579", line: "#dcdee8", field: "#f4f5f9",
                accent: "#4b45d6", onAccent: "#ffffff", trouble: "#c0262d", hover: "#eceef5",
                edge: "alpha(black, 0.10)")
        case .dark:
            define(
                background: "#22232c", text: "#f3f3f8", dim: "#a9acc0", line: "#3b3d4b", field: "#2c2e3a",
                accent: "#6f69f5", onAccent: "#ffffff", trouble: "#ff8a84", hover: "#343644",
                edge: "alpha(white, 0.12)")
        case .theme:
            define(
                background: "@theme_bg_color", text: "@theme_fg_color", dim: "@theme_fg_color", line: "@borders",
                field: "@theme_base_color", accent: "@theme_selected_bg_color", onAccent: "@theme_selected_fg_color",
                trouble: "@theme_fg_color", hover: "@theme_base_color", edge: "@borders")
        }
    }

    private static func define(
        background: String, text: String, dim: String, line: String, field: String, accent: String, onAccent: String,
        trouble: String, hover: String, edge: String
    ) -> String {
        """
        @define-color prompt_background \(background);
        @define-color prompt_text \(text);
        @define-color prompt_dim \(dim);
        @define-color prompt_line \(line);
        @define-color prompt_field \(field);
        @define-color prompt_accent \(accent);
        @define-color prompt_on_accent \(onAccent);
        @define-color prompt_trouble \(trouble);
        @define-color prompt_hover \(hover);
        @define-color prompt_edge \(edge);

        """
    }

    private static let rules = """
        window.unlock-prompt {
            background: @prompt_background;
            color: @prompt_text;
        }
        window.unlock-prompt.csd {
            border-radius: 16px;
            box-shadow: 0 12px 40px 4px alpha(black, 0.28), 0 0 0 1px @prompt_edge;
        }
        window.unlock-prompt.solid-csd {
            border-radius: 0;
            padding: 0;
            box-shadow: inset 0 0 0 1px @prompt_line;
        }
        .unlock-prompt .content { padding: 28px 32px 16px 32px; }

        .unlock-prompt .capture {
            margin-bottom: 14px;
            padding: 6px 10px;
            border-radius: 8px;
            font-weight: bold;
            background: alpha(@prompt_trouble, 0.12);
            color: @prompt_trouble;
        }
        .unlock-prompt .icon { margin-bottom: 10px; }
        .unlock-prompt .picture { margin: 0 8px 6px 8px; }
        .unlock-prompt .letter {
            background: @prompt_accent;
            color: @prompt_on_accent;
            border-radius: 18px;
            font-size: 2.6em;
            font-weight: bold;
        }
        .unlock-prompt .badge {
            background: @prompt_accent;
            color: @prompt_on_accent;
            border-radius: 50%;
                        box-shadow: 0 0 0 3px @prompt_background;
        }
        .unlock-prompt .heading { font-size: 1.5em; font-weight: bold; }
        .unlock-prompt .requester { margin-top: 5px; color: @prompt_dim; }
        .unlock-prompt .path { margin-top: 3px; font-size: 0.82em; color: @prompt_dim; }

        .unlock-prompt .form { margin-top: 22px; }
        .unlock-prompt entry.password {
            min-height: 42px;
            padding: 0 12px;
            font-size: 1.12em;
            border: none;
            border-radius: 10px;
            background: @prompt_field;
            color: @prompt_text;
            caret-color: @prompt_accent;
            outline: none;
            box-shadow: inset 0 0 0 1px @prompt_line;
            transition: box-shadow 120ms ease-out;
        }
        .unlock-prompt entry.password:focus-within { box-shadow: inset 0 0 0 2px @prompt_accent; }
        .unlock-prompt entry.password.refused { box-shadow: inset 0 0 0 2px @prompt_trouble; }
        .unlock-prompt entry.password:disabled { opacity: 0.55; }
        .unlock-prompt entry.password text placeholder { color: @prompt_dim; opacity: 1; }
        .unlock-prompt entry.password text selection { background: alpha(@prompt_accent, 0.35); color: @prompt_text; }
        .unlock-prompt .message { margin-top: 8px; min-height: 18px; font-size: 0.95em; color: @prompt_trouble; }

        .unlock-prompt .duration { margin: 12px 0 18px 0; }
        .unlock-prompt .row-label { color: @prompt_dim; }
        .unlock-prompt dropdown > button, .unlock-prompt .cancel, .unlock-prompt .unlock {
            min-height: 38px;
            padding: 0 14px;
            border: none;
            border-radius: 10px;
            background: @prompt_field;
            color: @prompt_text;
            text-shadow: none;
            box-shadow: inset 0 0 0 1px @prompt_line;
            outline: 2px solid transparent;
            outline-offset: 2px;
            transition: background 120ms ease-out, outline-color 120ms ease-out;
        }
        .unlock-prompt dropdown > button { min-height: 34px; padding: 0 10px; }
        .unlock-prompt dropdown > button:hover, .unlock-prompt .cancel:hover { background: @prompt_hover; }
        .unlock-prompt dropdown > button:focus-visible, .unlock-prompt button:focus-visible {
            outline-color: @prompt_accent;
        }
        .unlock-prompt .unlock {
            background: @prompt_accent;
            color: @prompt_on_accent;
            font-weight: bold;
            box-shadow: none;
        }
        .unlock-prompt .unlock:hover { background: shade(@prompt_accent, 1.10); }
        .unlock-prompt .unlock:active { background: shade(@prompt_accent, 0.92); }
        .unlock-prompt .unlock:disabled { background: alpha(@prompt_accent, 0.45); color: alpha(@prompt_on_accent, 0.85); }
        .unlock-prompt popover contents {
            background: @prompt_background;
            color: @prompt_text;
            border-radius: 12px;
            border: 1px solid @prompt_line;
        }

        .unlock-prompt .small { margin-top: 14px; font-size: 0.9em; color: @prompt_dim; }
        .unlock-prompt progressbar.time trough {
            min-height: 3px;
            min-width: 0;
            margin: 0;
            border: none;
            border-radius: 0;
            background: @prompt_line;
        }
        .unlock-prompt progressbar.time progress {
            min-height: 3px;
            min-width: 0;
            margin: 0;
            border: none;
            border-radius: 0;
            background: @prompt_accent;
        }
        .unlock-prompt.csd .whole { border-radius: 16px; }

        @keyframes prompt-shake {
            0% { transform: translateX(0); }
            15% { transform: translateX(-11px); }
            35% { transform: translateX(9px); }
            55% { transform: translateX(-6px); }
            75% { transform: translateX(4px); }
            100% { transform: translateX(0); }
        }
        .unlock-prompt .content.shake { animation: prompt-shake 420ms ease-out; }
        """
}
